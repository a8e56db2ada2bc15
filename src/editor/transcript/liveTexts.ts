import { type Disposable, DisposableStack } from '../../base/disposable';
import { Emitter, type Event } from '../../base/emitter';
import type { Logger } from '../../base/logger';
import type { RunId } from '../../model/ids';
import type { LiveEvent, TranscriptEntry } from '../../model/transcript';
import { joinPieces, lengthOf, withoutStart } from '../../protocol/pieces';
import { liveBudget, type Piece } from '../../protocol/transcriptApi';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../../tasks/taskApi';

/** What streams in a Run at this moment; `offset`s count characters that were dropped at the start. */
export interface LiveText {
  /** The id of the `message.started` it belongs to. */
  readonly message: string;
  readonly offset: number;
  readonly pieces: readonly Piece[];
  readonly outputs: ReadonlyMap<string, { readonly offset: number; readonly text: string }>;
}

/** A board whose Runs are listened to. */
export interface RunEvents {
  readonly onDidChangeTask: Event<TaskChange>;
  readonly onDidAppendEntry: Event<AppendedEntry>;
  readonly onDidStream: Event<StreamedEvent>;
}

const nothing: LiveText = { message: '', offset: 0, pieces: [], outputs: new Map() };

/** Keeps what is being written in this window's Runs, so that a page opened in the middle shows all of it. */
export class LiveTexts implements Disposable {
  /** Something streamed, or was appended, in this Run. */
  readonly onDidChange: Event<RunId>;
  private readonly changed: Emitter<RunId>;
  private readonly byRun = new Map<RunId, LiveText>();
  private readonly subscriptions = new DisposableStack();

  constructor(deps: { readonly logger: Logger }) {
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
  }

  listen(board: RunEvents): void {
    this.subscriptions.add(
      board.onDidAppendEntry(({ runId, entry }) => this.take(runId, afterEntry(this.of(runId), entry))),
    );
    this.subscriptions.add(
      board.onDidStream(({ runId, event }) => this.take(runId, afterEvent(this.of(runId), event))),
    );
    this.subscriptions.add(
      board.onDidChangeTask(({ event }) => {
        if (event.type === 'run.ended') this.byRun.delete(event.runId);
      }),
    );
  }

  of(runId: RunId): LiveText {
    return this.byRun.get(runId) ?? nothing;
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changed.dispose();
    this.byRun.clear();
  }

  private take(runId: RunId, next: LiveText): void {
    this.byRun.set(runId, next);
    this.changed.fire(runId);
  }
}

function afterEntry(text: LiveText, entry: TranscriptEntry): LiveText {
  switch (entry.type) {
    case 'message.started':
      return { ...text, message: entry.id, offset: 0, pieces: [] };
    case 'message':
    case 'message.cut':
      return { ...text, message: '', offset: 0, pieces: [] };
    case 'tool.ended': {
      const outputs = new Map(text.outputs);
      outputs.delete(entry.toolUseId);
      return { ...text, outputs };
    }
    default:
      return text;
  }
}

function afterEvent(text: LiveText, event: LiveEvent): LiveText {
  if (event.type === 'tool.output') {
    const known = text.outputs.get(event.toolUseId) ?? { offset: 0, text: '' };
    const all = known.text + event.text;
    const excess = Math.max(0, all.length - liveBudget);
    const output = { offset: known.offset + excess, text: all.slice(excess) };
    return { ...text, outputs: new Map(text.outputs).set(event.toolUseId, output) };
  }
  const kind = event.type === 'text.delta' ? 'text' : 'thinking';
  const pieces = joinPieces(text.pieces, [{ kind, text: event.text }]);
  const excess = Math.max(0, lengthOf(pieces) - liveBudget);
  return {
    ...text,
    offset: text.offset + excess,
    pieces: excess === 0 ? pieces : withoutStart(pieces, excess),
  };
}
