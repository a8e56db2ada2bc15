import * as z from 'zod';
import { runIdSchema, taskIdSchema } from './ids';
import { contentBlockSchema, modelParamsSchema, stopReasonSchema, toolSpecSchema } from './messages';
import { contextModeSchema, lifecycleSchema, runKindSchema } from './run';
import { usageSchema } from './usage';

/** First line of `runs/<runId>.jsonl`: everything a resume needs to send the same bytes again. */
export const transcriptHeaderSchema = z.lazy(() =>
  z.object({
    v: z.literal(1),
    type: z.literal('header'),
    runId: runIdSchema,
    taskId: taskIdSchema,
    kind: runKindSchema,
    agent: z.string(),
    model: z.string(),
    lifecycle: lifecycleSchema,
    context: contextModeSchema,
    parentRunId: runIdSchema.optional(),
    parentToolCallId: z.string().optional(),
    resumes: runIdSchema.optional(),
    base: z.object({ ref: z.string(), commit: z.string() }),
    treeAtStart: z.string(),
    system: z.array(contentBlockSchema),
    tools: z.array(toolSpecSchema),
    params: modelParamsSchema,
    appVersion: z.string(),
    startedAt: z.string(),
  }),
);
export type TranscriptHeader = z.infer<typeof transcriptHeaderSchema>;

const entryBase = { id: z.string(), parentId: z.string().nullable(), at: z.string() };

export const entrySchema = z.lazy(() =>
  z.discriminatedUnion('type', [
    /** A request went out. Without a following `message` or `message.cut` it was cut by a kill. */
    z.object({ ...entryBase, type: z.literal('message.started'), turn: z.number().int().positive() }),
    /** A whole assistant message. */
    z.object({
      ...entryBase,
      type: z.literal('message'),
      turn: z.number().int().positive(),
      model: z.string(),
      content: z.array(contentBlockSchema),
      stopReason: stopReasonSchema,
    }),
    /** What had arrived when a message broke off. Never sent again. */
    z.object({
      ...entryBase,
      type: z.literal('message.cut'),
      turn: z.number().int().positive(),
      partialText: z.string(),
      reason: z.string(),
    }),
    /** Everything we send as the user, except tool results, which `tool.ended` holds. */
    z.object({
      ...entryBase,
      type: z.literal('user'),
      content: z.array(contentBlockSchema),
      origin: z.enum(['instruction', 'user', 'host', 'resumed']),
      /** The waiting message of the Task that this is: what stands here is not sent again. */
      messageId: z.string().optional(),
    }),
    /** Written, and on disk, before the tool runs. */
    z.object({
      ...entryBase,
      type: z.literal('tool.started'),
      turn: z.number().int().positive(),
      toolUseId: z.string(),
      name: z.string(),
      input: z.unknown(),
      /** The N of `[call N]`; counts commands of the Run from 1; absent for tools that run none. */
      call: z.number().int().positive().optional(),
      treeBefore: z.string().optional(),
    }),
    z.object({
      ...entryBase,
      type: z.literal('tool.ended'),
      turn: z.number().int().positive(),
      toolUseId: z.string(),
      name: z.string(),
      /** Exactly what the model is sent as `tool_result`. */
      content: z.union([z.string(), z.array(contentBlockSchema)]),
      isError: z.boolean(),
      /** It was cut by the end of its Run, and did not fail by itself. */
      isStopped: z.boolean().optional(),
      exitCode: z.number().int().nullable().optional(),
      durationMs: z.number().nonnegative(),
      call: z.number().int().positive().optional(),
      /** The full output where `content` was shortened: a path under `runs/<runId>.out/`. */
      outputPath: z.string().optional(),
      treeAfter: z.string().optional(),
    }),
    z.object({
      ...entryBase,
      type: z.literal('usage'),
      turn: z.number().int().positive(),
      usage: usageSchema,
    }),
    z.object({
      ...entryBase,
      type: z.literal('retry'),
      attempt: z.number().int().positive(),
      code: z.string(),
      message: z.string(),
      waitMs: z.number().nonnegative(),
    }),
    z.object({
      ...entryBase,
      type: z.literal('question'),
      questionId: z.string(),
      toolUseId: z.string(),
      tool: z.string(),
      command: z.string(),
    }),
    z.object({
      ...entryBase,
      type: z.literal('answer'),
      questionId: z.string(),
      allowed: z.boolean(),
      by: z.string(),
    }),
    z.object({ ...entryBase, type: z.literal('state'), state: z.string(), reason: z.string().optional() }),
    z.object({ ...entryBase, type: z.literal('note'), code: z.string(), text: z.string() }),
  ]),
);
export type TranscriptEntry = z.infer<typeof entrySchema>;

type Omitted<E> = E extends unknown ? Omit<E, 'id' | 'parentId' | 'at'> : never;
/** An entry before the writer gave it its `id`, `parentId` and time. */
export type NewEntry = Omitted<TranscriptEntry>;

/** Never stored; other processes see whole entries only. */
export type LiveEvent =
  | { type: 'text.delta'; text: string }
  | { type: 'thinking.delta'; text: string }
  | { type: 'tool.output'; toolUseId: string; text: string };

/** Since when a Run waits for the user: its last question, while nobody answered it. */
export interface Waits {
  /** Milliseconds of questions that were answered. */
  readonly waitedMs: number;
  readonly waitingSince?: string;
}
export const noWaits: Waits = { waitedMs: 0 };

/** How long the user was waited for, `entry` included; entries are given one after another. */
export function afterWaiting(waits: Waits, { type, at }: Pick<TranscriptEntry, 'type' | 'at'>): Waits {
  if (type === 'question') return { ...waits, waitingSince: waits.waitingSince ?? at };
  if (type !== 'answer' || waits.waitingSince === undefined) return waits;
  return { waitedMs: waits.waitedMs + Math.max(0, Date.parse(at) - Date.parse(waits.waitingSince)) };
}

/** A transcript as read back. */
export interface Transcript {
  readonly header: TranscriptHeader;
  readonly entries: readonly TranscriptEntry[];
  /** What was wrong with the file: a half last line, a line that is no entry. Nothing is thrown away. */
  readonly problems: readonly string[];
}

/** Where reading a transcript goes on. `startOfTranscript` for the first time; else what the last part gave. */
export interface TranscriptCursor {
  /** Bytes read so far. */
  readonly offset: number;
  /** Lines read so far. */
  readonly lines: number;
}
export const startOfTranscript: TranscriptCursor = { offset: 0, lines: 0 };

/** The next part of a transcript, in whole lines. */
export interface TranscriptPart {
  /** With the first part only. */
  readonly header?: TranscriptHeader;
  readonly entries: readonly TranscriptEntry[];
  readonly problems: readonly string[];
  readonly next: TranscriptCursor;
  /** Nothing more was in the file when this part was read. */
  readonly isEnd: boolean;
  /** At the end stands half a line: one being written, or what a kill left. */
  readonly isTorn: boolean;
}
