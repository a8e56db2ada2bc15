import * as vscode from 'vscode';
import * as z from 'zod';
import { type Disposable, DisposableStack } from '../../base/disposable';
import type { Logger } from '../../base/logger';
import { type RunId, runIdSchema, type TaskId, taskIdSchema } from '../../model/ids';
import type { Announcer } from '../announcer';
import type { WindowBoards } from '../boards';
import type { Memory } from '../consent';
import type { PermissionInbox } from '../permissionInbox';
import { DeadTabs } from './deadTabs';
import { LiveTexts } from './liveTexts';
import { TranscriptPanel } from './transcriptPanel';

export interface TranscriptPanelsDeps {
  readonly extensionUri: vscode.Uri;
  readonly boards: WindowBoards;
  readonly inbox: PermissionInbox;
  readonly announcer: Pick<Announcer, 'follow' | 'failed'>;
  /** Remembers per workspace, beyond the extension host. */
  readonly memory: Memory;
  readonly logger: Logger;
}

const viewType = 'tributary.transcript';

/** What the page keeps of itself; the host reads only these two. */
const keptSchema = z.looseObject({ taskId: taskIdSchema, runId: runIdSchema.optional() });

/** The transcript tabs of the window: one for each Task, restored after a reload. */
export class TranscriptPanels implements Disposable {
  private readonly deps: TranscriptPanelsDeps;
  private readonly lives: LiveTexts;
  private readonly open = new Map<
    TaskId,
    { readonly tab: vscode.WebviewPanel; readonly panel: TranscriptPanel }
  >();
  private readonly subscriptions = new DisposableStack();
  private readonly dead: DeadTabs;

  constructor(deps: TranscriptPanelsDeps) {
    this.deps = deps;
    this.lives = new LiveTexts(deps);
    for (const board of deps.boards.all) this.lives.listen(board);
    this.subscriptions.add(deps.boards.onDidOpen((board) => this.lives.listen(board)));
    this.subscriptions.add(
      deps.boards.onDidChange(() => {
        for (const { panel } of this.open.values()) panel.refresh();
        this.remember();
      }),
    );
    this.subscriptions.add(
      vscode.window.registerWebviewPanelSerializer(viewType, {
        deserializeWebviewPanel: async (tab, state: unknown) => this.restore(tab, state),
      }),
    );
    this.dead = new DeadTabs({
      viewType,
      memory: deps.memory,
      isAnswered: (column) => this.tabs.some((tab) => tab.visible && tab.viewColumn === column),
      replace: (taskId, column) => {
        if (!this.open.has(taskId)) this.make(taskId, undefined, column);
      },
    });
    this.subscriptions.add(this.dead);
  }

  /** Opens or reveals the Task's tab on a Run, the newest one when none is named; `call`: the N of `[call N]` to scroll to. */
  show(taskId: TaskId, runId?: RunId, call?: number): void {
    const known = this.open.get(taskId);
    if (known !== undefined) {
      known.panel.showRun(runId, call);
      known.tab.reveal();
      return;
    }
    this.make(taskId, runId, vscode.ViewColumn.Active).showRun(runId, call);
  }

  dispose(): void {
    this.subscriptions.dispose();
    for (const { panel } of this.open.values()) panel.dispose();
    this.open.clear();
    this.lives.dispose();
  }

  private get tabs(): readonly vscode.WebviewPanel[] {
    return [...this.open.values()].map(({ tab }) => tab);
  }

  private make(taskId: TaskId, runId: RunId | undefined, column: vscode.ViewColumn): TranscriptPanel {
    const tab = vscode.window.createWebviewPanel(viewType, '', column, {
      // Its content is rebuilt from the file whenever it is shown.
      retainContextWhenHidden: false,
      enableFindWidget: false,
    });
    return this.add(tab, taskId, runId);
  }

  private remember(): void {
    this.dead.remember([...this.open].map(([taskId, { tab }]) => ({ taskId, title: tab.title })));
  }

  private restore(tab: vscode.WebviewPanel, state: unknown): void {
    const kept = keptSchema.safeParse(state);
    if (!kept.success || this.open.has(kept.data.taskId)) {
      this.deps.logger.warn('a transcript tab could not be restored');
      tab.dispose();
      return;
    }
    this.add(tab, kept.data.taskId, kept.data.runId);
  }

  private add(tab: vscode.WebviewPanel, taskId: TaskId, runId: RunId | undefined): TranscriptPanel {
    const { boards } = this.deps;
    const panel = new TranscriptPanel(
      { ...this.deps, panel: tab, taskId, find: () => boards.find(taskId), lives: this.lives },
      runId,
    );
    this.open.set(taskId, { tab, panel });
    const icon = (kind: string): vscode.Uri =>
      vscode.Uri.joinPath(this.deps.extensionUri, 'media', `transcript-${kind}.svg`);
    tab.iconPath = { light: icon('light'), dark: icon('dark') };
    tab.onDidDispose(() => {
      panel.dispose();
      this.open.delete(taskId);
      this.remember();
    });
    this.remember();
    return panel;
  }
}
