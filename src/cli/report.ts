import type { PermissionQuestion } from '../tasks/permission';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../tasks/taskApi';
import type { Described } from './messages';

/** How a call ended. */
export interface Outcome {
  readonly exitCode: number;
  /** The `data` of the JSON `result`. */
  readonly data: unknown;
  /** What people read on stdout instead; bytes go out as they are. */
  readonly text?: string | Uint8Array;
  /** What went wrong although the call did all it could, such as a conflict. */
  readonly error?: Described;
}

/** Where everything a call has to say goes: one for people, one for JSON. */
export interface Report {
  change(change: TaskChange): void;
  entry(appended: AppendedEntry): void;
  stream(streamed: StreamedEvent): void;
  question(question: PermissionQuestion): void;
  /** For people only, on stdout. */
  say(text: string): void;
  /** A diagnostic, on stderr. */
  warn(text: string): void;
  error(error: Described): void;
  /** Last, and once. */
  result(outcome: Outcome): void;
}
