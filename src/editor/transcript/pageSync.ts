import type { RunId } from '../../model/ids';
import type { Run } from '../../model/run';
import type { Task } from '../../model/task';
import type { HostCalls } from '../../protocol/define';
import { withoutStart } from '../../protocol/pieces';
import {
  type LiveMessage,
  type LiveOutput,
  type PageEntry,
  type TranscriptApi,
  windowSize,
} from '../../protocol/transcriptApi';
import type { PermissionQuestion } from '../../tasks/permission';
import type { LiveText } from './liveTexts';
import { pageFacts } from './pageFacts';
import type { RunFeed } from './runFeed';
import { shortenEntry } from './shortenEntry';

/** Entries sent in one `append`; a page that is further behind gets a snapshot. */
const mostAppended = 2_000;

export interface SyncInput {
  readonly task: Task;
  readonly run: Run;
  readonly live: LiveText;
  readonly pending: readonly PermissionQuestion[];
}

/** Brings a page to what its Run's file and Task say: what it has not got yet, and nothing twice. */
export class PageSync {
  private readonly page: Pick<HostCalls<TranscriptApi>, 'snapshot' | 'append' | 'stream' | 'facts'>;
  private readonly now: () => Date;
  private serial = 0;
  private wantsSnapshot = true;
  private runId: RunId | undefined;
  private sent = 0;
  private sentFacts = '';
  private sentLive = { message: -1, length: 0 };
  private readonly sentOutputs = new Map<string, number>();

  constructor(page: PageSync['page'], now: () => Date) {
    this.page = page;
    this.now = now;
  }

  /** The page asked: it has nothing, or missed something. */
  requestSnapshot(): void {
    this.wantsSnapshot = true;
  }

  /** `live` is what streamed before the file was read: what of it has ended by now is in the file. */
  async update(feed: RunFeed, read: () => SyncInput | undefined): Promise<void> {
    const before = read();
    if (before === undefined) return;
    await feed.catchUp();
    const after = read();
    if (after === undefined) return;
    const { live } = before;
    const isFar = feed.revision - this.sent > mostAppended;
    if (this.wantsSnapshot || isFar || this.runId !== after.run.id) this.sendSnapshot(feed, after, live);
    else this.sendNews(feed, after, live);
  }

  private sendSnapshot(feed: RunFeed, input: SyncInput, live: LiveText): void {
    const { id: runId } = input.run;
    const facts = pageFacts({ ...input, feed });
    this.wantsSnapshot = false;
    this.runId = runId;
    this.sent = feed.revision;
    this.sentFacts = JSON.stringify(facts);
    this.sentLive = { message: -1, length: 0 };
    this.sentOutputs.clear();
    const message = this.liveNews(feed, live);
    this.page.snapshot({
      runId,
      revision: feed.revision,
      entries: windowOf(feed, feed.revision, windowSize),
      facts: { ...facts, serial: ++this.serial, now: this.now().toISOString() },
      ...(message === undefined ? {} : { live: message }),
      outputs: this.outputNews(live),
    });
  }

  private sendNews(feed: RunFeed, input: SyncInput, live: LiveText): void {
    const { id: runId } = input.run;
    if (feed.revision > this.sent) {
      const entries = windowOf(feed, feed.revision, feed.revision - this.sent);
      this.sent = feed.revision;
      this.page.append({ runId, revision: feed.revision, entries });
    }
    const message = this.liveNews(feed, live);
    const outputs = this.outputNews(live);
    if (message !== undefined || outputs.length > 0)
      this.page.stream({ runId, ...(message === undefined ? {} : { live: message }), outputs });
    const facts = pageFacts({ ...input, feed });
    const text = JSON.stringify(facts);
    if (text === this.sentFacts) return;
    this.sentFacts = text;
    this.page.facts({
      runId,
      facts: { ...facts, serial: ++this.serial, now: this.now().toISOString() },
    });
  }

  /** What was streamed of the open message and not sent yet. */
  private liveNews(feed: RunFeed, { message: id, offset, pieces }: LiveText): LiveMessage | undefined {
    const open = feed.openMessage;
    if (open === undefined || open.id !== id) return undefined;
    const sent = this.sentLive.message === open.index ? this.sentLive.length : 0;
    const skip = Math.max(0, sent - offset);
    const fresh = withoutStart(pieces, skip);
    if (fresh.length === 0) return undefined;
    const from = offset + skip;
    const length = from + fresh.reduce((sum, { text }) => sum + text.length, 0);
    this.sentLive = { message: open.index, length };
    return { message: open.index, offset: from, pieces: fresh };
  }

  private outputNews({ outputs }: LiveText): LiveOutput[] {
    // A model may use the id of a call again.
    for (const id of this.sentOutputs.keys()) if (!outputs.has(id)) this.sentOutputs.delete(id);
    return [...outputs].flatMap(([toolUseId, { offset, text }]) => {
      const skip = Math.max(0, (this.sentOutputs.get(toolUseId) ?? 0) - offset);
      if (skip >= text.length) return [];
      this.sentOutputs.set(toolUseId, offset + text.length);
      return [{ toolUseId, offset: offset + skip, text: text.slice(skip) }];
    });
  }
}

/** At most `count` entries before `end`, as the page gets them. */
export function windowOf(feed: RunFeed, end: number, count: number): PageEntry[] {
  const from = Math.max(0, Math.min(end, feed.revision) - count);
  return feed.entries.slice(from, end).map((entry, position) => shortenEntry(entry, from + position));
}
