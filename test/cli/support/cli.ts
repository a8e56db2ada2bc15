import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { testGitEnvironment } from '../../git/support/tempRepo';

/** One line of `--json` output. */
export type JsonLine = Readonly<Record<string, unknown>>;

export interface CliOptions {
  readonly cwd: string;
  /** Over the test's environment; `undefined` takes a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface CliEnd {
  /** `null`: ended by a signal. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** stdout's lines as JSON; fails when one is none. */
  readonly lines: readonly JsonLine[];
  /** The `data` of the last line. */
  readonly data: JsonLine;
}

/** A command line that runs. */
export interface CliRun {
  readonly pid: number;
  readonly ended: Promise<CliEnd>;
  /** The first JSON line that fits, also one that has come already; rejects when the process ends without it. */
  waitFor(fits: (line: JsonLine) => boolean): Promise<JsonLine>;
  /** Resolves once stdout has so many whole lines, or no more will come. */
  waitForLines(count: number): Promise<void>;
  /** Resolves once stderr holds the text. */
  waitForStderr(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** The command line that was built for the tests, else the one in `dist/`. */
export const cliPath = join(
  process.env['TRIBUTARY_DIST'] ?? join(process.env['TRIBUTARY_ROOT'] ?? '', 'dist'),
  'cli.js',
);

const alive = new Set<ChildProcess>();

/** Kills what a failed test left running; give it to `afterEach`. */
export async function endClis(): Promise<void> {
  await Promise.all(
    [...alive].map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      return closed;
    }),
  );
}

/** Starts the built command line as a real process, with closed stdin and no key of the machine. */
export function startCli(args: readonly string[], { cwd, env = {} }: CliOptions): CliRun {
  const whole = Object.entries({ ...testGitEnvironment(), ...env }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const child = spawn(process.execPath, [cliPath, ...args], {
    cwd,
    env: Object.fromEntries(whole),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  const chunks: Buffer[] = [];
  let stderr = '';
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of [...watchers]) watcher();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    tell();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell();
  });
  let hasEnded = false;
  const ended = new Promise<CliEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => {
      alive.delete(child);
      hasEnded = true;
      const stdout = Buffer.concat(chunks);
      resolve({
        exitCode,
        stdout,
        stderr,
        get lines() {
          return linesOf(stdout);
        },
        get data() {
          return dataOf(linesOf(stdout));
        },
      });
      tell();
    });
  });
  const waitUntil = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined && !hasEnded) return;
        watchers.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`ended without it\n${Buffer.concat(chunks).toString('utf8')}\n${stderr}`));
      };
      watchers.add(look);
      look();
    });
  return {
    pid: child.pid ?? 0,
    ended,
    waitFor: (fits) => waitUntil(() => linesOf(Buffer.concat(chunks)).find(fits)),
    waitForLines: async (count) => {
      await waitUntil(() => (hasEnded || linesOf(Buffer.concat(chunks)).length >= count ? true : undefined));
    },
    waitForStderr: async (text) => {
      await waitUntil(() => (stderr.includes(text) ? true : undefined));
    },
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs the command line to its end. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliEnd> {
  return startCli(args, options).ended;
}

/** Whole lines only: the last one may still be on its way. */
function linesOf(stdout: Buffer): JsonLine[] {
  return stdout
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JsonLine);
}

function dataOf(lines: readonly JsonLine[]): JsonLine {
  const data = lines.at(-1)?.['data'];
  if (typeof data !== 'object' || data === null)
    throw new Error(`no data in ${JSON.stringify(lines.at(-1))}`);
  return data as JsonLine;
}
