import * as vscode from 'vscode';
import { toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import type { Settled } from '../tasks/taskApi';
import type { Dialogs, Tone } from './dialogs';
import { type Described, describe, describeError, type Remedy, remedyTitle } from './messages';
import { shown } from './taskWords';

export interface AnnouncerDeps {
  readonly dialogs: Dialogs;
  readonly logger: Logger & { show(): void };
  /** Blots secrets out of what is shown. */
  readonly redact: (text: string) => string;
}

/** The one place that tells the user of a failure: once, in plain words, with what can be done as buttons. */
export class Announcer {
  private readonly deps: AnnouncerDeps;

  constructor(deps: AnnouncerDeps) {
    this.deps = deps;
  }

  /** A command failed. */
  async failed(what: string, error: unknown, taskId?: TaskId): Promise<void> {
    const failure = toTributaryError(error);
    this.deps.logger.error(`${what} failed`, { ...(taskId === undefined ? {} : { taskId }), error: failure });
    if (failure.code === 'cancelled') return;
    await this.show('error', describeError(failure), taskId);
  }

  /** Follows what a command began, and says so when its last Run did not end as it should. */
  async follow(task: Task, settled: Promise<Settled>): Promise<void> {
    try {
      const last = (await settled).runs.at(-1);
      const status = last?.status;
      // Stopping is the user's doing, and closing the window says itself.
      if (status?.state !== 'failed') return;
      const { reason, message } = status.end;
      this.deps.logger.warn('a run failed', { taskId: task.id, runId: last?.id, reason, message });
      const described = describe(reason, message);
      const name = shown(task.packet.objective, 50);
      await this.show('error', { ...described, message: `"${name}": ${described.message}` }, task.id);
    } catch (error) {
      await this.failed(vscode.l10n.t('A Run of "{0}"', shown(task.packet.objective, 50)), error, task.id);
    }
  }

  private async show(tone: Tone, { message, remedies }: Described, taskId?: TaskId): Promise<void> {
    const offered = remedies.filter((remedy) => !isOfTask(remedy) || taskId !== undefined);
    const titles = offered.map(remedyTitle);
    const chosen = await this.deps.dialogs.say(tone, this.deps.redact(message), ...titles);
    const remedy = offered.find((one) => remedyTitle(one) === chosen);
    if (remedy !== undefined) await this.remedy(remedy, taskId);
  }

  private async remedy(remedy: Remedy, taskId: TaskId | undefined): Promise<void> {
    switch (remedy) {
      case 'setKey':
        return vscode.commands.executeCommand('tributary.key.set');
      case 'openDemo':
        return vscode.commands.executeCommand('tributary.demo.open');
      case 'openSettings':
        return vscode.commands.executeCommand('workbench.action.openSettings', 'tributary.model');
      case 'showLog':
        return this.deps.logger.show();
      case 'showSetup':
        return vscode.commands.executeCommand('tributary.task.showSetup', { taskId });
      case 'resume':
        return vscode.commands.executeCommand('tributary.task.resume', { taskId });
      case 'commit':
        return vscode.commands.executeCommand('workbench.view.scm');
    }
  }
}

/** Whether it can only be taken for a Task. */
function isOfTask(remedy: Remedy): boolean {
  return remedy === 'resume' || remedy === 'showSetup';
}
