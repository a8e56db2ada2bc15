import * as vscode from 'vscode';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { Settings } from '../model/settings';
import { withoutLinks } from './plainWords';
import { settingsFrom } from './settingsFrom';

/** `tributary.*` of this window, read when asked. */
export class EditorSettings implements vscode.Disposable {
  readonly onDidChange: Event<void>;
  private readonly changed: Emitter<void>;
  private readonly logger: Logger;
  private readonly subscription: vscode.Disposable;
  private said = '';

  constructor(deps: { readonly logger: Logger }) {
    this.logger = deps.logger;
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
    this.subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('tributary')) this.changed.fire();
    });
  }

  get now(): Settings {
    const { settings, problems } = settingsFrom(rawSettings());
    const problem = problems.join('; ');
    if (problem !== '' && problem !== this.said) {
      this.logger.warn('settings that cannot be used count as not set', { problem });
      void vscode.window.showWarningMessage(
        withoutLinks(
          vscode.l10n.t('Settings of Tributary that cannot be used count as not set: {0}', problem),
        ),
      );
    }
    this.said = problem;
    return settings;
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}

function rawSettings(): unknown {
  const own = vscode.workspace.getConfiguration('tributary');
  return {
    model: own.get('model'),
    verify: own.get('verify'),
    resume: own.get('resume'),
    worktrees: own.get('worktrees'),
    maxConcurrentRuns: own.get('maxConcurrentRuns'),
  };
}
