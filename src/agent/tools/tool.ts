import type * as z from 'zod';
import type { ContentBlock, ToolSpec, ToolUseBlock } from '../../model/messages';
import type { LiveEvent } from '../../model/transcript';
import type { Location, Severity } from '../../model/verdict';

export const toolNames = [
  'Read',
  'Write',
  'Edit',
  'Glob',
  'Grep',
  'Bash',
  'TodoWrite',
  'Diff',
  'ReportCheck',
  'ReportFinding',
] as const;
export type ToolName = (typeof toolNames)[number];

/** What a tool gives back; `content` is exactly what the model is sent. */
export interface ToolOutcome {
  readonly content: string | readonly ContentBlock[];
  readonly isError: boolean;
  readonly exitCode?: number | null;
  readonly outputPath?: string;
  /** True when files of the Worktree may differ now: the Turn then gets a Snapshot. */
  readonly mayHaveChanged: boolean;
}

/** A file as the Run last saw it: Write and Edit refuse one never read, or changed since. */
export interface FileReadState {
  readonly seen: Map<string, { readonly mtimeMs: number; readonly size: number; readonly sha256: string }>;
}

export interface CheckReport {
  readonly title: string;
  readonly command: string;
  readonly call?: number;
  readonly exitCode: number | null;
  readonly observed: string;
  readonly result: 'pass' | 'fail' | 'skip';
}

export interface FindingReport {
  readonly location?: Location;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly call?: number;
}

/** A command that wants an answer; `denied` carries the reason that the model is told. */
export type PermissionAnswer =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string };

/** What a tool may lean on; one per Run. Paths are absolute and real. */
export interface ToolContext {
  /** The Worktree, or the checkout for an agent that runs in place: cwd of every command. */
  readonly root: string;
  /** The user's checkout, whose tracked files a Run with a Worktree does not read; absent when it runs in place. */
  readonly mainCheckout?: string;
  readonly commonDir: string;
  readonly scope: readonly string[];
  readonly canWrite: boolean;
  readonly shell: 'any' | 'readOnly' | 'none';
  /** Commands that run without asking: the packet's acceptance tests. */
  readonly allowedCommands: readonly string[];
  /** The scrubbed environment of commands; holds no key. */
  readonly commandEnv: Readonly<Record<string, string>>;
  /** `runs/<runId>.out/`: full outputs; the one folder outside `root` that Read may open. */
  readonly outDirectory: string;
  readonly readState: FileReadState;
  readonly ripgrepPath: string;
  readonly diff: (path?: string) => Promise<string>;
  /** Runs a command and says what changed meanwhile outside the Worktree: `alarm` is for the model. */
  readonly around: <T>(
    command: string,
    body: () => Promise<T>,
  ) => Promise<{ readonly result: T; readonly alarm?: string }>;
  readonly askPermission: (
    question: { toolUseId: string; tool: string; command: string },
    signal: AbortSignal,
  ) => Promise<PermissionAnswer>;
  readonly onCheck: (report: CheckReport) => void;
  readonly onFinding: (report: FindingReport) => void;
  readonly onTodos: (todos: readonly { content: string; status: string; activeForm: string }[]) => void;
  readonly onLive: (event: LiveEvent) => void;
}

/** One tool. `run` never throws for what its input or the files do: that is an outcome with `isError`. */
export interface Tool<Input = unknown> {
  readonly name: ToolName;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Runs a command, and so counts for `[call N]`. */
  readonly isCommand: boolean;
  run(input: Input, call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolCall {
  readonly toolUseId: string;
  /** The N of `[call N]`, for commands. */
  readonly call?: number;
  readonly signal: AbortSignal;
}

/** The tools of one Run: what the model is told of and what it may execute, fixed at spawn. */
export interface ToolSet {
  readonly specs: readonly ToolSpec[];
  isCommand(name: string): boolean;
  /** Parses the input and runs; an unknown or uncapped tool, or a bad input, is an error outcome. */
  run(use: ToolUseBlock, call: ToolCall): Promise<ToolOutcome>;
}
