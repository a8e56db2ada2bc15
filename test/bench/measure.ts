import { spawn } from 'node:child_process';
import { testGitEnvironment } from '../git/support/tempRepo';
import type { StrictServer } from '../wire/support/strictServer';

/** What one repetition took, in ms. CPU is user and system time of the whole process tree. */
export interface Sample {
  readonly wall: number;
  readonly cpu?: number;
}

export interface Program {
  readonly script: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly server?: StrictServer;
}

/**
 * Runs a Node script to its end. Time is taken by bash's `time`: Node does not tell what ended children used,
 * and bash counts every descendant that was waited for.
 */
export async function timeToEnd(program: Program): Promise<Sample> {
  const command = [process.execPath, program.script, ...program.args];
  const child = spawn(
    'bash',
    ['-c', 'TIMEFORMAT="%3R %3U %3S"; time "$@" 2>&1 >/dev/null', 'bash', ...command],
    {
      cwd: program.cwd,
      env: environment(program.server),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [code, said, times] = await Promise.all([endOf(child), textOf(child.stdout), textOf(child.stderr)]);
  if (code !== 0) throw new Error(`${program.script} ended with ${code}: ${said}`);
  const [real = 0, user = 0, system = 0] = times.trim().split(/\s+/).map(Number);
  return { wall: real * 1_000, cpu: (user + system) * 1_000 };
}

/** From the start of a Node script until its first request is at the server; waits for its end as well. */
export async function timeToFirstRequest(
  program: Program & { readonly server: StrictServer },
): Promise<Sample> {
  const { server, script, args, cwd } = program;
  const arrived = server.waitForRequests(server.requests.length + 1);
  const started = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: environment(server),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = Promise.all([endOf(child), textOf(child.stderr)]);
  const early = ended.then(([code, said]) => {
    throw new Error(`${script} ended with ${code} before its first request: ${said}`);
  });
  await Promise.race([arrived, early]);
  const wall = performance.now() - started;
  early.catch(() => undefined);
  const [code, said] = await ended;
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${said}`);
  return { wall };
}

/** The variants one after another, in an order that turns with each round, so that a slow moment hits all. */
export async function inTurns<Name extends string>(
  rounds: number,
  variants: Readonly<Record<Name, () => Promise<Sample>>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(variants) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as Sample[]])) as Record<Name, Sample[]>;
  // The first round fills caches and is not counted.
  for (let round = -1; round < rounds; round += 1) {
    for (const index of names.keys()) {
      const name = names[(index + Math.max(round, 0)) % names.length];
      if (name === undefined) continue;
      const sample = await variants[name]();
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}

function environment(server: StrictServer | undefined): Record<string, string> {
  const model = server === undefined ? {} : { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: server.url };
  return { ...testGitEnvironment(), ...model };
}

/** The exit code, or the signal that ended it. */
function endOf(child: ReturnType<typeof spawn>): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
