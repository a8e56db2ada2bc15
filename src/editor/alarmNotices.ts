import * as vscode from 'vscode';
import * as z from 'zod';
import { type Disposable, DisposableStack } from '../base/disposable';
import type { Alarm } from '../model/alarm';
import { openAlarms, type Task } from '../model/task';
import type { Boards } from './boards';
import type { Memory } from './consent';
import type { Dialogs } from './dialogs';
import { shown } from './taskWords';

export interface AlarmNoticesDeps {
  readonly boards: Boards;
  readonly dialogs: Dialogs;
  /** Remembers per workspace which alarms were told. */
  readonly memory: Memory;
}

const key = 'alarms.told';
const toldSchema = z.array(z.string()).catch([]);

/** Tells of each alarm once; until it is dismissed its row says so. */
export class AlarmNotices implements Disposable {
  private readonly deps: AlarmNoticesDeps;
  private readonly told: Set<string>;
  private readonly subscriptions = new DisposableStack();

  constructor(deps: AlarmNoticesDeps) {
    this.deps = deps;
    this.told = new Set(toldSchema.parse(deps.memory.get(key)));
    this.subscriptions.add(deps.boards.onDidChange(() => this.look()));
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private look(): void {
    const tasks = this.deps.boards.all.flatMap((board) => board.tasks);
    const fresh = tasks.flatMap((task) => {
      const alarms = openAlarms(task).filter(({ id }) => !this.told.has(id));
      return alarms.length === 0 ? [] : [{ task, alarms }];
    });
    if (fresh.length === 0) return;
    for (const { alarms } of fresh) for (const { id } of alarms) this.told.add(id);
    // Those of Tasks that are gone need not be remembered.
    const there = new Set(tasks.flatMap(({ alarms }) => alarms.map(({ id }) => id)));
    void this.deps.memory.update(
      key,
      [...this.told].filter((id) => there.has(id)),
    );
    for (const { task, alarms } of fresh) void this.tell(task, alarms);
  }

  private async tell({ id, packet }: Task, alarms: readonly Alarm[]): Promise<void> {
    const show = vscode.l10n.t('Show…');
    const dismiss = vscode.l10n.t('Dismiss');
    const command = alarms[0]?.command;
    const name = shown(packet.objective, 60);
    const message =
      command === undefined
        ? vscode.l10n.t('Something outside the worktree of "{0}" has changed since it began.', name)
        : vscode.l10n.t(
            'Something outside its worktree changed while "{0}" ran: {1}',
            name,
            shown(command, 200),
          );
    const chosen = await this.deps.dialogs.say('warning', message, show, dismiss);
    if (chosen === show) await vscode.commands.executeCommand('tributary.task.showAlarms', { taskId: id });
    if (chosen === dismiss)
      await vscode.commands.executeCommand('tributary.task.dismissAlarms', { taskId: id });
  }
}
