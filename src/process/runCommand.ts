import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { errnoOf } from '../base/errors';
import { CommandTree } from './commandTree';
import { OutputCapture } from './outputCapture';
import { commandMarkerVariable } from './processTree';
import { shellLine } from './shell';

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
  /** `ENOENT`... when it never started; `CWD_MISSING` when it is the folder that is not there. */
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

const defaultMaxOutputBytes = 1024 * 1024;
const killGraceMs = 1_000;
/** After the command has ended, streams that bring nothing for this long are given up. */
const quietStreamMs = 250;

export const runCommand: RunCommand = async (request) => {
  const startedMs = performance.now();
  const capture = new OutputCapture({
    maxBytes: request.maxOutputBytes ?? defaultMaxOutputBytes,
    overflowPath: request.overflowPath,
    onText: request.onOutput,
  });
  const ending = request.signal?.aborted ? endingOf('cancelled') : await start(request, capture);
  const overflowPath = await capture.close();
  return {
    ...ending,
    stdout: capture.stdout.bytes(),
    stderr: capture.stderr.bytes(),
    output: capture.text(),
    isTruncated: capture.isTruncated,
    ...(overflowPath === undefined ? {} : { overflowPath }),
    durationMs: performance.now() - startedMs,
  };
};

type Ending = Pick<CommandResult, 'reason' | 'exitCode' | 'signal' | 'startError'>;

function endingOf(reason: CommandResult['reason']): Ending {
  return { reason, exitCode: null };
}

async function start(request: CommandRequest, capture: OutputCapture): Promise<Ending> {
  const marker = randomUUID();
  try {
    const child = spawnCommand(request, marker);
    const startError = await new Promise<unknown>((resolve) => {
      child.once('spawn', () => resolve(undefined));
      child.once('error', (error) => resolve(error));
    });
    if (startError !== undefined) throw startError;
    return await follow(request, child, { capture, marker });
  } catch (error) {
    return { ...endingOf('notStarted'), startError: await startErrorOf(error, request.cwd) };
  }
}

function spawnCommand(request: CommandRequest, marker: string): ChildProcess {
  const { command } = request;
  const line = command.kind === 'shell' ? shellLine(command.text) : { ...command, isVerbatim: false };
  const options: SpawnOptions = {
    cwd: request.cwd,
    env: { ...request.env, [commandMarkerVariable]: marker },
    // Its own session and group: our Ctrl-C does not reach it, and one signal reaches all of it.
    detached: process.platform !== 'win32',
    windowsHide: true,
    windowsVerbatimArguments: line.isVerbatim,
    stdio: [request.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  };
  return spawn(line.file, line.args, options);
}

async function startErrorOf(error: unknown, cwd: string): Promise<string> {
  const code = errnoOf(error) ?? 'UNKNOWN';
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return code;
  // Node reports a missing folder as a missing program.
  const isFolder = await stat(cwd).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return isFolder ? code : 'CWD_MISSING';
}

/** Waits for the end of a started command and of everything that belongs to it. */
async function follow(
  request: CommandRequest,
  child: ChildProcess,
  { capture, marker }: { capture: OutputCapture; marker: string },
): Promise<Ending> {
  const tree = new CommandTree(child.pid ?? 0, marker);
  const isShell = request.command.kind === 'shell';
  // A program we chose ourselves is not searched for runaways unless it has to be ended early.
  if (isShell) tree.record();
  const exited = new Promise<Pick<CommandResult, 'exitCode' | 'signal'>>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, ...(signal === null ? {} : { signal }) }));
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('error', () => stream.destroy());
  capture.attach(child.stdout, child.stderr);
  feed(child, request.input);
  const early = endEarly(request, tree);
  const exit = await exited;
  const reason = early.reason() ?? 'exited';
  early.dispose();
  await early.finished();
  if (reason === 'exited' && (isShell || tree.hasGroup())) await tree.end(killGraceMs);
  tree.dispose();
  await drained([child.stdout, child.stderr]);
  return { reason, ...exit };
}

/** Ends the tree on timeout or abort; the first of them is the reason. */
function endEarly(
  request: CommandRequest,
  tree: CommandTree,
): { reason(): 'timeout' | 'cancelled' | undefined; finished(): Promise<void>; dispose(): void } {
  let reason: 'timeout' | 'cancelled' | undefined;
  let ended: Promise<void> | undefined;
  const end = (why: 'timeout' | 'cancelled'): void => {
    if (reason !== undefined) return;
    reason = why;
    ended = tree.end(killGraceMs);
  };
  const onAbort = (): void => end('cancelled');
  const { timeoutMs, signal } = request;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timeout'), timeoutMs);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    reason: () => reason,
    finished: async () => ended,
    dispose: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

function feed(child: ChildProcess, input: Uint8Array | string | undefined): void {
  if (!child.stdin) return;
  // A command may end without reading its input: that is its right.
  child.stdin.on('error', () => child.stdin?.destroy());
  child.stdin.end(input);
}

/** Resolves when the streams have closed, or are silent although the command is gone; then closes them. */
async function drained(streams: readonly (Readable | null)[]): Promise<void> {
  const waits = streams.map(
    (stream) =>
      new Promise<void>((resolve) => {
        if (!stream || stream.closed) return resolve();
        const giveUp = (): void => {
          // Paused means that we make it wait, not that nothing comes.
          if (stream.isPaused()) timer.refresh();
          else stream.destroy();
        };
        const timer = setTimeout(giveUp, quietStreamMs);
        stream.on('data', () => timer.refresh());
        stream.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  );
  await Promise.all(waits);
}
