/** What to run. An argument array never meets a shell; `shell` is the one place a shell is used: a tool's command. */
export type CommandLine =
  | { readonly kind: 'args'; readonly file: string; readonly args: readonly string[] }
  | { readonly kind: 'shell'; readonly text: string };

export interface CommandRequest {
  readonly command: CommandLine;
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment of the command; nothing is inherited beside it (see `scrubbedEnvironment`). */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Written to the command's input, which is then closed; absent: closed at once. */
  readonly input?: Uint8Array | string;
  /** Bytes kept in memory of each stream; default 1 MiB, `Infinity` for our own git. */
  readonly maxOutputBytes?: number;
  /** Where the whole interleaved output goes when the cap is passed. Created only then. */
  readonly overflowPath?: string;
  readonly onOutput?: (text: string) => void;
}

export interface CommandResult {
  /** `exited`: see `exitCode` or `signal`; the others say who ended it. */
  readonly reason: 'exited' | 'timeout' | 'cancelled' | 'notStarted';
  /** `null` when a signal ended it or it never started. */
  readonly exitCode: number | null;
  readonly signal?: string;
  /** `ENOENT`... when it never started. */
  readonly startError?: string;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Both streams as they came, at most `maxOutputBytes`: the head and the tail, the middle left out. */
  readonly output: string;
  readonly isTruncated: boolean;
  readonly overflowPath?: string;
  readonly durationMs: number;
}

/**
 * Runs a command in its own process group. Abort and timeout end the whole tree, `SIGTERM`, after
 * `killGraceMs` (1,000) `SIGKILL`; when the command itself ends, what it left running in its group is
 * ended too. Never throws for what a command does; failing to start is a result.
 */
export type RunCommand = (request: CommandRequest) => Promise<CommandResult>;
