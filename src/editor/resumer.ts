import * as vscode from 'vscode';
import { toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { RunId } from '../model/ids';
import type { Settings } from '../model/settings';
import type { Task } from '../model/task';
import type { Announcer } from './announcer';
import type { WindowBoards } from './boards';
import type { Dialogs } from './dialogs';
import type { LiveBoard } from './liveBoard';
import { type OwnRuns, type ToResume, toResume } from './resuming';
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
  /** Interrupted Runs that were gone on with, or asked about, already. */
  private readonly seen = new Set<RunId>();

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
    // The host before us may take its time to go, or hang and be killed: its Runs are interrupted later then.
    this.subscriptions.push(this.deps.boards.onDidChange(() => this.look(board)));
    this.look(board);
  }

  private look(board: LiveBoard): void {
    const { own, setting } = this.deps;
    const fresh = board.tasks.filter(({ runs }) => !runs.slice(-1).some(({ id }) => this.seen.has(id)));
    const found = toResume(fresh, { setting: setting(), own: own.all, now: new Date() });
    const all = [...found.automatic, ...found.ask];
    if (all.length === 0) return;
    for (const { runs } of all) for (const { id } of runs.slice(-1)) this.seen.add(id);
    void this.resume(board, found);
  }

  private async resume(board: LiveBoard, found: ToResume): Promise<void> {
    const { own, dialogs } = this.deps;
    await this.goOnByItself(board, found.automatic);
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

  /** Nobody asked for it in this window, so it is said; not waited for. */
  private async goOnByItself(board: LiveBoard, tasks: readonly Task[]): Promise<void> {
    const resumed: string[] = [];
    for (const task of tasks)
      if (await this.goOn(board, task)) resumed.push(`"${shown(task.packet.objective, 50)}"`);
    if (resumed.length === 0) return;
    void this.deps.dialogs.say('info', vscode.l10n.t('Resumed: {0}', resumed.join(', ')));
  }

  /** Answers whether it goes on by this window's doing. */
  private async goOn(board: LiveBoard, task: Task): Promise<boolean> {
    const { announcer, logger } = this.deps;
    try {
      const begun = await board.core.tasks.resume(task.id);
      void announcer.follow(begun.task, begun.settled);
      return true;
    } catch (error) {
      // Another window was quicker: one process claims a Task, and the row shows it running.
      if (toTributaryError(error).code === 'wrongState')
        logger.info('not resumed here', { taskId: task.id, error });
      else await announcer.failed(vscode.l10n.t('Resuming'), error, task.id);
      return false;
    }
  }
}
