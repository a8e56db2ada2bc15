import { commandInputSchema } from '../model/messages';
import type { LiveEvent, TranscriptEntry } from '../model/transcript';
import type { TaskChange } from '../tasks/taskApi';

/** What a live Run is at, this moment; words for it are in `taskWords.ts`. */
export type Activity =
  | { readonly kind: 'queued' }
  | { readonly kind: 'worktree' }
  | { readonly kind: 'settingUp'; readonly command: string }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'reading'; readonly path: string }
  | { readonly kind: 'editing'; readonly path: string }
  | { readonly kind: 'searching'; readonly pattern: string }
  | { readonly kind: 'running'; readonly command: string }
  | { readonly kind: 'planning' }
  | { readonly kind: 'comparing' }
  | { readonly kind: 'reporting'; readonly title: string }
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'asking'; readonly command: string }
  | { readonly kind: 'retrying'; readonly code: string; readonly waitMs: number };

/** Something that happened to a Run, from one of the three sources of events. */
export type ActivityEvent =
  | { readonly from: 'board'; readonly event: TaskChange['event'] }
  | { readonly from: 'transcript'; readonly entry: TranscriptEntry }
  | { readonly from: 'stream'; readonly event: LiveEvent };

/** The activity after `happened`; the same object when it says nothing new. `undefined`: nothing goes on. */
export function nextActivity(now: Activity | undefined, happened: ActivityEvent): Activity | undefined {
  const next = activityAfter(now, happened);
  return next !== undefined && now !== undefined && isSame(next, now) ? now : next;
}

function activityAfter(now: Activity | undefined, happened: ActivityEvent): Activity | undefined {
  // The model may be answering already; until the set-up is done its tools wait for that.
  if (now?.kind === 'settingUp' && happened.from !== 'board') return now;
  switch (happened.from) {
    case 'board':
      return afterBoardEvent(now, happened.event);
    case 'transcript':
      return afterEntry(now, happened.entry);
    case 'stream':
      // A tool's output belongs to the tool that is shown already.
      return happened.event.type === 'tool.output' ? now : { kind: 'thinking' };
  }
}

function afterBoardEvent(now: Activity | undefined, event: TaskChange['event']): Activity | undefined {
  switch (event.type) {
    case 'run.created':
      return { kind: 'queued' };
    case 'run.started':
    case 'worktree.create.started':
      return { kind: 'worktree' };
    case 'worktree.command.started':
      return event.phase === 'setup' ? { kind: 'settingUp', command: event.command } : now;
    case 'worktree.command.ended':
      return event.phase === 'setup' ? { kind: 'thinking' } : now;
    case 'worktree.create.completed':
      return { kind: 'thinking' };
    case 'run.ended':
      return undefined;
    default:
      return now;
  }
}

function afterEntry(now: Activity | undefined, entry: TranscriptEntry): Activity | undefined {
  switch (entry.type) {
    case 'user':
    case 'message.started':
    case 'message':
    case 'tool.ended':
      return { kind: 'thinking' };
    case 'tool.started':
      return activityOfTool(entry.name, entry.input);
    case 'question':
      return { kind: 'asking', command: entry.command };
    case 'answer':
      return now?.kind === 'asking' && entry.allowed
        ? { kind: 'running', command: now.command }
        : { kind: 'thinking' };
    case 'retry':
      return { kind: 'retrying', code: entry.code, waitMs: entry.waitMs };
    default:
      return now;
  }
}

/** What a tool call does; `input` is whatever the model sent. */
export function activityOfTool(name: string, input: unknown): Activity {
  switch (name) {
    case 'Read':
      return { kind: 'reading', path: textOf(input, 'file_path') };
    case 'Write':
    case 'Edit':
      return { kind: 'editing', path: textOf(input, 'file_path') };
    case 'Glob':
    case 'Grep':
      return { kind: 'searching', pattern: textOf(input, 'pattern') };
    case 'Bash': {
      const parsed = commandInputSchema.safeParse(input);
      return { kind: 'running', command: parsed.success ? parsed.data.command : '' };
    }
    case 'TodoWrite':
      return { kind: 'planning' };
    case 'Diff':
      return { kind: 'comparing' };
    case 'ReportCheck':
    case 'ReportFinding':
      return { kind: 'reporting', title: textOf(input, 'title') };
    default:
      return { kind: 'tool', name };
  }
}

function textOf(input: unknown, key: string): string {
  if (typeof input !== 'object' || input === null) return '';
  const value: unknown = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : '';
}

function isSame(a: Activity, b: Activity): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
