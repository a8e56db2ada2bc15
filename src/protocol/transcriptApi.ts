import * as z from 'zod';
import { answerSchema } from '../model/answer';
import { runIdSchema, taskIdSchema } from '../model/ids';
import { baseSchema } from '../model/packet';
import { runKindSchema } from '../model/run';
import { taskStateNameSchema } from '../model/task';
import { entrySchema } from '../model/transcript';
import { usageSchema } from '../model/usage';
import { verdictSchema, verdictWordSchema } from '../model/verdict';
import { command, notification, request } from './define';

/** Entries sent at once; earlier ones are asked for in windows of this size. */
export const windowSize = 400;
/** Characters of text an entry is sent with; the rest on demand. */
export const entryBudget = 24_000;
/** Live text of one message, or output of one running tool, that is kept: its end. */
export const liveBudget = 100_000;

const runStateNameSchema = z.enum(['created', 'running', 'completed', 'failed', 'stopped', 'interrupted']);

/** An entry with its place in the file, counted from 0. */
export const pageEntrySchema = z.object({
  index: z.number().int().nonnegative(),
  entry: entrySchema,
  /** Long text was shortened; `wholeEntry` has all of it. */
  isShortened: z.boolean(),
});
export type PageEntry = z.infer<typeof pageEntrySchema>;

/** Streamed text in the order it came. */
export const pieceSchema = z.object({ kind: z.enum(['text', 'thinking']), text: z.string() });
export type Piece = z.infer<typeof pieceSchema>;

/** More of the message that is being written. `offset`: characters that came before these pieces. */
export const liveMessageSchema = z.object({
  /** Where its `message.started` stands in the file. */
  message: z.number().int().nonnegative(),
  offset: z.number().int().nonnegative(),
  pieces: z.array(pieceSchema),
});
export type LiveMessage = z.infer<typeof liveMessageSchema>;

/** More output of a running tool. */
export const liveOutputSchema = z.object({
  toolUseId: z.string(),
  offset: z.number().int().nonnegative(),
  text: z.string(),
});
export type LiveOutput = z.infer<typeof liveOutputSchema>;

export const runFactsSchema = z.object({
  id: runIdSchema,
  kind: runKindSchema,
  agent: z.string(),
  model: z.string(),
  isDemo: z.boolean(),
  state: runStateNameSchema,
  createdAt: z.string(),
  startedAt: z.string().optional(),
  /** Why it ended, and when. */
  end: z.object({ reason: z.string(), message: z.string(), at: z.string() }).optional(),
  parentRunId: runIdSchema.optional(),
  /** The answer's five sections, once the Run completed. */
  answer: answerSchema.optional(),
  usage: usageSchema,
  /** Milliseconds it waited for answers of the user, and since when it waits for one now. */
  waitedMs: z.number().nonnegative(),
  waitingSince: z.string().optional(),
  /** What was wrong with the file. */
  problems: z.array(z.string()),
});
export type RunFacts = z.infer<typeof runFactsSchema>;

/** Everything about a Task and the shown Run that is not an entry. Sent whole; the highest `serial` counts. */
export const factsSchema = z.object({
  serial: z.number().int().nonnegative(),
  task: z.object({
    id: taskIdSchema,
    objective: z.string(),
    state: taskStateNameSchema,
    base: baseSchema,
    branch: z.string().optional(),
    /** Something differs from the base: there is a review, and something to verify. */
    hasChanges: z.boolean(),
  }),
  /** A Run of the Task lives; messages then go to it. */
  isBusy: z.boolean(),
  run: runFactsSchema,
  /** All Runs of the Task, oldest first. */
  runs: z.array(
    z.object({
      id: runIdSchema,
      kind: runKindSchema,
      agent: z.string(),
      state: runStateNameSchema,
      verdict: verdictWordSchema.optional(),
      parentRunId: runIdSchema.optional(),
      parentToolCallId: z.string().optional(),
    }),
  ),
  verdict: verdictSchema.optional(),
  /** Messages to the agent that no transcript holds yet, oldest first, shortened. */
  unsent: z.array(z.string()),
  /** Findings of `verdict` that were set aside. */
  dismissed: z.array(z.string()),
  /** Questions of the Task's Runs that wait for an answer and can be answered here. */
  waiting: z.array(
    z.object({
      id: z.string(),
      agent: z.string(),
      tool: z.string(),
      command: z.string(),
      runId: runIdSchema,
    }),
  ),
  /** When this was sent, by the host's clock: the page counts elapsed time from it. */
  now: z.string(),
});
export type Facts = z.infer<typeof factsSchema>;

const positionSchema = z.object({
  runId: runIdSchema,
  /** How many entries the file has: entries are only ever appended, so the count is the revision. */
  revision: z.number().int().nonnegative(),
});

export const snapshotSchema = positionSchema.extend({
  /** The last entries, at most `windowSize`; the last one has the index `revision - 1`. */
  entries: z.array(pageEntrySchema),
  facts: factsSchema,
  live: liveMessageSchema.optional(),
  outputs: z.array(liveOutputSchema),
});
export type PageSnapshot = z.infer<typeof snapshotSchema>;

export const appendSchema = positionSchema.extend({ entries: z.array(pageEntrySchema) });
export type PageAppend = z.infer<typeof appendSchema>;

export const streamSchema = z.object({
  runId: runIdSchema,
  live: liveMessageSchema.optional(),
  outputs: z.array(liveOutputSchema),
});
export type PageStream = z.infer<typeof streamSchema>;

const ofRun = z.object({ runId: runIdSchema });
const query = z.string().min(1).max(1_000);

/** What the transcript page and its host say to each other. Up go only intents. */
export const transcriptApi = {
  /** Asks for a `snapshot`: on load, when shown again, after a gap. */
  wantSnapshot: command(z.object({})),
  /** Earlier entries, ending before `before`. */
  earlier: request(
    ofRun.extend({
      before: z.number().int().nonnegative(),
      count: z.number().int().min(1).max(2_000),
    }),
    z.array(pageEntrySchema),
  ),
  /** An entry with all of its text. */
  wholeEntry: request(ofRun.extend({ index: z.number().int().nonnegative() }), pageEntrySchema),
  /** Indices of the entries that hold `query`, ignoring case, oldest first. */
  find: request(ofRun.extend({ query }), z.array(z.number().int().nonnegative())),
  /** A message to the Task's author; `false`: it was not taken, and the user has been told why. */
  sendMessage: request(z.object({ text: z.string().trim().min(1).max(200_000) }), z.boolean()),
  answer: command(z.object({ questionId: z.string(), isAllowed: z.boolean() })),
  /** Consent for every command in worktrees of the repository; the host asks once more, modally. */
  allowAll: command(z.object({ questionId: z.string() })),
  stop: command(ofRun),
  verify: command(z.object({})),
  resume: command(z.object({})),
  /** All open Findings when `findingId` is absent. */
  fix: command(z.object({ findingId: z.string().optional() })),
  openReview: command(z.object({})),
  /** `path`: relative to the Worktree, or absolute inside it; lines count from 1. */
  openFile: command(
    z.object({
      path: z.string().min(1).max(4_096),
      line: z.number().int().positive().optional(),
      endLine: z.number().int().positive().optional(),
    }),
  ),
  /** The full output of the tool call that ended with this entry. */
  openOutput: command(ofRun.extend({ index: z.number().int().nonnegative() })),
  showRun: command(ofRun.extend({ call: z.number().int().positive().optional() })),
  copy: command(z.object({ text: z.string().max(20_000_000) })),
  exportAs: command(ofRun.extend({ format: z.enum(['markdown', 'json']) })),

  snapshot: notification(snapshotSchema),
  append: notification(appendSchema),
  stream: notification(streamSchema),
  facts: notification(ofRun.extend({ facts: factsSchema })),
  /** The Task is not known in this window, or not any more. */
  missing: notification(z.object({})),
  /** Scroll to a command of the shown Run: the N of `[call N]`. */
  reveal: notification(ofRun.extend({ call: z.number().int().positive() })),
};
export type TranscriptApi = typeof transcriptApi;
