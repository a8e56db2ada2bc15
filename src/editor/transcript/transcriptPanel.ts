import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { DisposableStack } from '../../base/disposable';
import type { Logger } from '../../base/logger';
import type { RunId, TaskId } from '../../model/ids';
import { clip, plainLine } from '../../model/plainText';
import type { Run } from '../../model/run';
import type { Task } from '../../model/task';
import { type HostEnd, hostEnd } from '../../protocol/hostEnd';
import { type TranscriptApi, transcriptApi } from '../../protocol/transcriptApi';
import { isLive } from '../../tasks/runMachine';
import type { LiveBoard } from '../liveBoard';
import { Throttle } from '../throttle';
import type { LiveTexts } from './liveTexts';
import { pageHtml, pageRules } from './pageHtml';
import { type IntentsDeps, openOutput, pageIntents } from './pageIntents';
import { PageSync, type SyncInput, windowOf } from './pageSync';
import { RunFeed } from './runFeed';
import { searchFeed } from './searchFeed';

export interface PanelDeps {
  readonly panel: vscode.WebviewPanel;
  readonly extensionUri: vscode.Uri;
  readonly taskId: TaskId;
  readonly find: IntentsDeps['find'];
  readonly inbox: IntentsDeps['inbox'];
  readonly announcer: IntentsDeps['announcer'];
  readonly lives: LiveTexts;
  readonly logger: Logger;
}

/** Deltas are merged: at most one message in so many ms. */
const sendEveryMs = 50;
/** Between looks at the file of a Run that another process writes. */
const pollMs = 500;
/** The editor tab of a Task: shows one of its Runs at a time. */
export class TranscriptPanel implements Disposable {
  readonly taskId: TaskId;
  private readonly deps: PanelDeps;
  private readonly end: HostEnd<TranscriptApi>;
  private readonly sync: PageSync;
  private readonly throttle = new Throttle(sendEveryMs, () => void this.update());
  private readonly subscriptions = new DisposableStack();
  private runId: RunId | undefined;
  private feed: { readonly runId: RunId; readonly feed: RunFeed } | undefined;
  private updating: Promise<void> | undefined;
  private isStale = false;
  private isReady = false;
  private call: number | undefined;
  /** The Runs there were when something was sent from here: the next one is shown. */
  private awaited: ReadonlySet<RunId> | undefined;
  private poll: NodeJS.Timeout | undefined;

  constructor(deps: PanelDeps, runId: RunId | undefined) {
    this.deps = deps;
    this.taskId = deps.taskId;
    this.runId = runId;
    const { webview } = deps.panel;
    this.end = hostEnd(
      transcriptApi,
      {
        post: (message) => void webview.postMessage(message),
        onRefused: (reason) => deps.logger.warn('a message of a transcript page was refused', { reason }),
      },
      {
        ...pageIntents({ ...deps, onSent: () => this.awaitRun() }),
        wantSnapshot: () => this.begin(),
        earlier: async ({ runId: id, before, count }) => windowOf(await this.feedOf(id), before, count),
        wholeEntry: async ({ runId: id, index }) => this.wholeEntry(id, index),
        find: async ({ runId: id, query }) => searchFeed(await this.feedOf(id), query),
        showRun: ({ runId: id, call }) => this.showRun(id, call),
        openOutput: ({ runId: id, index }) => void this.openOutput(id, index),
      },
    );
    this.sync = new PageSync(this.end.page, () => new Date());
    this.subscriptions.add(webview.onDidReceiveMessage((message: unknown) => this.end.receive(message)));
    this.subscriptions.add(deps.panel.onDidChangeViewState(() => this.onVisibility()));
    this.subscriptions.add(deps.lives.onDidChange((id) => id === this.run()?.id && this.throttle.ask()));
    this.subscriptions.add(deps.inbox.onDidChange(() => this.throttle.ask()));
    webview.options = pageRules(deps.extensionUri);
    webview.html = pageHtml(webview, { extensionUri: deps.extensionUri, taskId: deps.taskId, runId });
    this.setTitle();
  }

  /** Goes to a Run of the Task, the newest one when `undefined`, and there to the command `call`. */
  showRun(runId: RunId | undefined, call?: number): void {
    this.runId = runId ?? this.deps.find()?.task.runs.at(-1)?.id ?? this.runId;
    this.call = call;
    this.awaited = undefined;
    this.throttle.ask();
  }

  /** Boards or Tasks changed. */
  refresh(): void {
    this.followSent();
    this.setTitle();
    this.throttle.ask();
  }

  dispose(): void {
    clearTimeout(this.poll);
    this.throttle.dispose();
    this.subscriptions.dispose();
  }

  private begin(): void {
    this.isReady = true;
    this.sync.requestSnapshot();
    this.throttle.ask();
  }

  /** A hidden page is gone: it loads anew and asks when it is shown again. What was read for it is let go. */
  private onVisibility(): void {
    if (this.deps.panel.visible) return;
    this.isReady = false;
    this.feed = undefined;
    clearTimeout(this.poll);
  }

  private run(): Run | undefined {
    const runs = this.deps.find()?.task.runs ?? [];
    return runs.find(({ id }) => id === this.runId) ?? (this.runId === undefined ? runs.at(-1) : undefined);
  }

  private setTitle(): void {
    const task = this.deps.find()?.task;
    const name = task === undefined ? this.taskId : clip(plainLine(task.packet.objective), 60);
    const title = vscode.l10n.t('Run: {0}', name);
    if (this.deps.panel.title !== title) this.deps.panel.title = title;
  }

  /** One update at a time; what happens meanwhile leads to another one. */
  private async update(): Promise<void> {
    if (this.updating !== undefined) {
      this.isStale = true;
      return;
    }
    this.updating = this.updateOnce();
    await this.updating;
    this.updating = undefined;
    if (this.isStale) {
      this.isStale = false;
      this.throttle.ask();
    }
  }

  private async updateOnce(): Promise<void> {
    if (!this.isReady || !this.deps.panel.visible) return;
    const run = this.run();
    if (run === undefined) {
      // A Task that was only just started has no Run yet; the page waits for it.
      if (this.runId !== undefined || this.deps.find() === undefined) this.end.page.missing({});
      this.sync.requestSnapshot();
      return;
    }
    this.runId = run.id;
    try {
      const feed = this.ownFeed(run.id);
      await this.sync.update(feed, () => this.input(run.id));
      this.revealCall(run.id, feed);
    } catch (error) {
      this.deps.logger.error('a transcript could not be shown', { runId: run.id, error });
    }
    this.pollForeign(run);
  }

  private input(runId: RunId): SyncInput | undefined {
    const task = this.deps.find()?.task;
    const run = task?.runs.find(({ id }) => id === runId);
    // The user may have gone to another Run while the file was read.
    if (task === undefined || run === undefined || this.runId !== runId) return undefined;
    return { task, run, live: this.deps.lives.of(runId), pending: this.deps.inbox.pending };
  }

  private ownFeed(runId: RunId): RunFeed {
    if (this.feed?.runId === runId) return this.feed.feed;
    const feed = new RunFeed(async (from) => {
      const { board } = this.known();
      return board.core.tasks.transcriptPart(this.taskId, runId, from);
    });
    this.feed = { runId, feed };
    return feed;
  }

  /** For requests: only of the Run that is shown. */
  private async feedOf(runId: RunId): Promise<RunFeed> {
    if (runId !== this.run()?.id) throw new Error('that run is not shown any more');
    const feed = this.ownFeed(runId);
    if (feed.revision === 0) await feed.catchUp();
    return feed;
  }

  private async wholeEntry(runId: RunId, index: number) {
    const entry = (await this.feedOf(runId)).entries[index];
    if (entry === undefined) throw new Error(`there is no entry ${index}`);
    return { index, entry, isShortened: false };
  }

  private async openOutput(runId: RunId, index: number): Promise<void> {
    try {
      const { board, task } = this.known();
      const entry = (await this.feedOf(runId)).entries[index];
      if (entry?.type === 'tool.ended' && entry.outputPath !== undefined)
        await openOutput(board, task, runId, entry.outputPath);
    } catch (error) {
      await this.deps.announcer.failed('openOutput', error, this.taskId);
    }
  }

  private known(): { readonly board: LiveBoard; readonly task: Task } {
    const found = this.deps.find();
    if (found === undefined) throw new Error('the task is not in this window');
    return found;
  }

  private revealCall(runId: RunId, feed: RunFeed): void {
    const { call } = this;
    if (call === undefined) return;
    const isThere = feed.entries.some((entry) => entry.type === 'tool.started' && entry.call === call);
    if (isThere) this.end.page.reveal({ runId, call });
    this.call = undefined;
  }

  private awaitRun(): void {
    this.awaited = new Set(this.deps.find()?.task.runs.map(({ id }) => id));
    this.followSent();
  }

  /** Shows the Run that something sent from here began. */
  private followSent(): void {
    const { awaited } = this;
    const next = this.deps.find()?.task.runs.find(({ id }) => awaited !== undefined && !awaited.has(id));
    if (next !== undefined) this.showRun(next.id);
  }

  /** Entries of another process come by no event. */
  private pollForeign(run: Run): void {
    clearTimeout(this.poll);
    if (isLive(run) && run.owner.pid !== process.pid)
      this.poll = setTimeout(() => this.throttle.ask(), pollMs);
  }
}
