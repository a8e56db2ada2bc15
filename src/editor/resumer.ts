import * as vscode from 'vscode';
import { toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { Settings } from '../model/settings';
import type { Task } from '../model/task';
import type { Announcer } from './announcer';
import type { WindowBoards } from './boards';
import type { Dialogs } from './dialogs';
import type { LiveBoard } from './liveBoard';
import { type OwnRuns, toResume } from './resuming';
import { shown } from './taskWords';

export interface ResumerDeps {
  readonly boards: WindowBoards;
  readonly own: OwnRuns;
  readonly setting: () => Settings['resume'];
  readonly announcer: Announcer;
  readonly dialogs: Dialogs;
  readonly logger: Logger;
}

/** Goes on with what the last closing or crash of this window interrupted, as `tributary.resume` says. */
export class Resumer implements vscode.Disposable {
  private readonly deps: ResumerDeps;
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(deps: ResumerDeps) {
    this.deps = deps;
    this.subscriptions.push(deps.boards.onDidOpen((opened) => this.take(opened)));
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private take(board: LiveBoard): void {
    this.subscriptions.push(
      board.onDidChangeTask(({ event, task }) => {
        if (event.type !== 'run.created') return;
        const run = task.runs.find(({ id }) => id === event.runId);
        if (run?.owner.pid === process.pid) this.deps.own.add(event.runId);
      }),
    );
    void this.resume(board);
  }

  private async resume(board: LiveBoard): Promise<void> {
    const { own, setting, dialogs } = this.deps;
    const found = toResume(board.tasks, { setting: setting(), own: own.all, now: new Date() });
    for (const task of found.automatic) await this.goOn(board, task);
    if (found.ask.length === 0) return;
    const resume = vscode.l10n.t('Resume');
    const names = found.ask.map((task) => `"${shown(task.packet.objective, 50)}"`).join(', ');
    const message =
      found.ask.length === 1
        ? vscode.l10n.t('{0} was interrupted. Its work so far is kept.', names)
        : vscode.l10n.t(
            '{0} Tasks were interrupted: {1}. Their work so far is kept.',
            found.ask.length,
            names,
          );
    const chosen = await dialogs.say('info', message, resume, vscode.l10n.t('Not Now'));
    own.forget(found.ask);
    if (chosen === resume) for (const task of found.ask) await this.goOn(board, task);
  }

  private async goOn(board: LiveBoard, task: Task): Promise<void> {
    const { announcer, logger } = this.deps;
    try {
      const begun = await board.core.tasks.resume(task.id);
      void announcer.follow(begun.task, begun.settled);
    } catch (error) {
      // Another window was quicker: one process claims a Task, and the row shows it running.
      if (toTributaryError(error).code === 'wrongState')
        logger.info('not resumed here', { taskId: task.id, error });
      else await announcer.failed(vscode.l10n.t('Resuming'), error, task.id);
    }
  }
}
