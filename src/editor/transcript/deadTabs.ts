import * as vscode from 'vscode';
import * as z from 'zod';
import { type Disposable, DisposableStack } from '../../base/disposable';
import { type TaskId, taskIdSchema } from '../../model/ids';
import type { Memory } from '../consent';

export interface DeadTabsDeps {
  readonly viewType: string;
  /** Survives the extension host. */
  readonly memory: Memory;
  /** Whether a tab that somebody answers is shown in the column. */
  readonly isAnswered: (column: vscode.ViewColumn) => boolean;
  /** Shows the Task in the column, in a tab that is answered. */
  readonly replace: (taskId: TaskId, column: vscode.ViewColumn) => void;
}

const memoryKey = 'tributary.transcriptTabs';
const rememberedSchema = z.array(z.object({ taskId: taskIdSchema, title: z.string() }));
type Remembered = z.infer<typeof rememberedSchema>[number];

/** How long a tab that is shown may take until its page is given back to us, on a slow machine too. */
const patienceMs = 3_000;

/**
 * Replaces tabs whose extension host was killed. The editor goes on showing them as they were and gives them to
 * nobody; a reload of the window, in contrast, gives each back when it is shown.
 */
export class DeadTabs implements Disposable {
  private readonly deps: DeadTabsDeps;
  private readonly subscriptions = new DisposableStack();
  /** What the host before us had open and nobody has taken over yet. */
  private left: readonly Remembered[];
  private written: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(deps: DeadTabsDeps) {
    this.deps = deps;
    const stored = rememberedSchema.safeParse(deps.memory.get(memoryKey));
    this.left = stored.success ? stored.data : [];
    this.subscriptions.add(vscode.window.tabGroups.onDidChangeTabs(() => this.look()));
    this.subscriptions.add(vscode.window.tabGroups.onDidChangeTabGroups(() => this.look()));
    this.look();
  }

  /** The tabs that are answered now; the next host finds the dead ones by it. */
  remember(open: readonly Remembered[]): void {
    this.left = this.left.filter(({ taskId }) => !open.some((one) => one.taskId === taskId));
    const all = [...this.left, ...open];
    if (JSON.stringify(all) === this.written) return;
    this.written = JSON.stringify(all);
    void this.deps.memory.update(memoryKey, all);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscriptions.dispose();
  }

  private look(): void {
    if (this.timer !== undefined || this.left.length === 0) return;
    const before = this.unanswered();
    if (before.length === 0) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      for (const tab of this.unanswered()) if (before.includes(tab)) void this.replace(tab);
      this.look();
    }, patienceMs);
  }

  /** Shown tabs of ours without anybody behind them whose Task is known. */
  private unanswered(): vscode.Tab[] {
    return vscode.window.tabGroups.all.flatMap(({ activeTab, viewColumn }) => {
      // The editor puts a prefix of its own before the type.
      const isOurs =
        activeTab?.input instanceof vscode.TabInputWebview &&
        activeTab.input.viewType.endsWith(this.deps.viewType);
      if (!isOurs || this.deps.isAnswered(viewColumn) || this.taskOf(activeTab) === undefined) return [];
      return [activeTab];
    });
  }

  private taskOf(tab: vscode.Tab): TaskId | undefined {
    return this.left.find(({ title }) => title === tab.label)?.taskId;
  }

  private async replace(tab: vscode.Tab): Promise<void> {
    const taskId = this.taskOf(tab);
    if (taskId === undefined) return;
    this.left = this.left.filter((one) => one.taskId !== taskId);
    this.deps.replace(taskId, tab.group.viewColumn);
    await vscode.window.tabGroups.close(tab, true);
  }
}
