import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable';
import { plainLine } from '../model/plainText';
import type { StoreProblem } from '../store/store';
import type { Dialogs } from './dialogs';

export interface ProblemNoticesDeps {
  readonly dialogs: Dialogs;
  readonly log: { show(): void };
}

/** Files that are read together are told of together. */
const gatherMs = 300;

/** Tells of files of a board that could not be used: each once, with the way to the log, which says the rest. */
export class ProblemNotices implements Disposable {
  private readonly deps: ProblemNoticesDeps;
  private readonly told = new Set<string>();
  private fresh: StoreProblem[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(deps: ProblemNoticesDeps) {
    this.deps = deps;
  }

  take(problem: StoreProblem): void {
    const key = `${problem.code} ${problem.path} ${problem.taskId ?? ''}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.fresh.push(problem);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.tell();
    }, gatherMs);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private async tell(): Promise<void> {
    const problems = this.fresh;
    this.fresh = [];
    const showLog = vscode.l10n.t('Show Log');
    const doctor = vscode.l10n.t('Run Doctor');
    const chosen = await this.deps.dialogs.say('warning', textOf(problems), showLog, doctor);
    if (chosen === showLog) this.deps.log.show();
    if (chosen === doctor) await vscode.commands.executeCommand('tributary.doctor');
  }
}

function textOf(problems: readonly StoreProblem[]): string {
  const [first] = problems;
  if (first === undefined || problems.length > 1)
    return vscode.l10n.t(
      '{0} of the files in which Tributary keeps its Tasks cannot be used. None was deleted; the log says what to do.',
      problems.length,
    );
  const name = plainLine(basename(first.path));
  return first.code === 'newerStore'
    ? vscode.l10n.t(
        '{0} was written by a newer Tributary: it can be read, not changed. Update this one to go on with it.',
        name,
      )
    : vscode.l10n.t(
        '{0}, in which Tributary keeps its Tasks, is damaged. It was not deleted; the log says what to do.',
        name,
      );
}
