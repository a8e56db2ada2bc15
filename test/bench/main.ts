import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { byTurn, finalAnswer, fiveTurns } from '../cli/support/job';
import { cleanUp } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { inTurns, type Sample, timeToEnd, timeToFirstRequest } from './measure';
import { type Comparison, reportOf } from './report';
import { makeLargeRepo } from './repositories';
import { WorktreeBench } from './worktrees';

export interface BenchRequest {
  /** The built command line, and the folder of the bundled bare scripts. */
  readonly programs: { readonly cli: string; readonly floor: string };
  readonly only: readonly string[] | undefined;
  readonly isQuick: boolean;
}

const names = ['list', 'start', 'job', 'worktrees'] as const;
type Name = (typeof names)[number];

/** Files in the repository -> rounds of each comparison. Few rounds where one takes seconds. */
const plans: Readonly<Record<Name, { readonly files: number; readonly rounds: number }[]>> = {
  list: [
    { files: 1_000, rounds: 15 },
    { files: 50_000, rounds: 7 },
  ],
  start: [
    { files: 1_000, rounds: 11 },
    { files: 50_000, rounds: 3 },
  ],
  job: [{ files: 1_000, rounds: 9 }],
  worktrees: [
    { files: 1_000, rounds: 9 },
    { files: 50_000, rounds: 3 },
  ],
};

/** Prints the comparisons as they come; asserts nothing. Answers the exit code. */
export async function main({ programs, only, isQuick }: BenchRequest): Promise<number> {
  const unknown = (only ?? []).filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0) {
    console.error(`unknown benchmark "${unknown.join(', ')}"; there are: ${names.join(', ')}`);
    return 2;
  }
  const server = await startStrictServer({ apiKey: 'test-key' });
  try {
    const repositories = new Map<number, Promise<string>>();
    for (const name of names.filter((one) => only?.includes(one) ?? true)) {
      for (const { files, rounds } of isQuick ? plans[name].slice(0, 1) : plans[name]) {
        const repo = repositories.get(files) ?? makeLargeRepo(files);
        repositories.set(files, repo);
        const bench = new Bench(programs, await repo, server);
        const comparisons = await bench[name](isQuick ? Math.min(rounds, 3) : rounds);
        console.log(`\n${titles[name]}, ${files.toLocaleString('en')} files`);
        console.log(comparisons.map(reportOf).join('\n'));
      }
    }
    if (server.refusals.length > 0) throw new Error(`requests were refused: ${server.refusals.join('; ')}`);
    return 0;
  } finally {
    await server.close();
    await cleanUp();
  }
}

const titles: Readonly<Record<Name, string>> = {
  list: 'Cold start: `tributary list --json` beside a script that loads the SDK and asks git the same',
  start: 'Start to first request: `tributary run` beside `git worktree add` and one SDK call',
  job: 'Five turns (read, grep, edit, command, answer) beside a bare loop doing the same',
  worktrees: 'Worktrees: creation, removal, snapshot, status, change set, preview beside plain git',
};

/** One repository, and what can be compared on it. */
class Bench {
  private readonly programs: BenchRequest['programs'];
  private readonly root: string;
  private readonly server: StrictServer;

  constructor(programs: BenchRequest['programs'], root: string, server: StrictServer) {
    this.programs = programs;
    this.root = root;
    this.server = server;
  }

  async list(rounds: number): Promise<Comparison[]> {
    const samples = await inTurns(rounds, {
      product: () => this.timed(this.programs.cli, ['list', '--json']),
      floor: () => this.timed(join(this.programs.floor, 'list.js'), []),
    });
    return [{ label: 'bare script', ...samples }];
  }

  async start(rounds: number): Promise<Comparison[]> {
    this.server.script([{ content: [{ type: 'text', text: finalAnswer }] }]);
    const samples = await inTurns(rounds, {
      product: () => this.untilRequest(this.programs.cli, this.runArguments),
      floor: () => this.untilRequest(join(this.programs.floor, 'start.js'), this.bareArguments),
    });
    return [{ label: 'bare script', ...samples }];
  }

  async job(rounds: number): Promise<Comparison[]> {
    this.server.script(byTurn(fiveTurns));
    const job = join(this.programs.floor, 'job.js');
    const { product, plain, snapshots, git } = await inTurns(rounds, {
      product: () => this.timed(this.programs.cli, this.runArguments),
      plain: () => this.timed(job, this.bareArguments),
      snapshots: () => this.timed(job, [...this.bareArguments, 'snapshots']),
      git: () => this.timed(job, [...this.bareArguments, 'git']),
    });
    return [
      { label: 'bare loop', product, floor: plain },
      { label: 'bare loop, snapshots', product, floor: snapshots },
      { label: 'bare loop, same git', product, floor: git },
    ];
  }

  worktrees(rounds: number): Promise<Comparison[]> {
    return new WorktreeBench({ root: this.root, rounds }).run();
  }

  private readonly runArguments = ['run', 'Say good day', '--no-verify', '--allow-commands', '--json'];

  private get bareArguments(): string[] {
    return [join(`${this.root}.worktrees`, 'bare'), 'bare', rgPath];
  }

  private async timed(script: string, args: readonly string[]): Promise<Sample> {
    await this.reset();
    return timeToEnd({ script, args, cwd: this.root, server: this.server });
  }

  private async untilRequest(script: string, args: readonly string[]): Promise<Sample> {
    await this.reset();
    return timeToFirstRequest({ script, args, cwd: this.root, server: this.server });
  }

  /** Back to a repository that nobody has worked in; objects stay. */
  private async reset(): Promise<void> {
    const git = join(this.root, '.git');
    const traces = [
      'worktrees',
      'tributary',
      'refs/tributary',
      'refs/bare',
      'refs/heads/tributary',
      'refs/heads/bare',
    ];
    for (const path of [`${this.root}.worktrees`, ...traces.map((trace) => join(git, trace))])
      await rm(path, { recursive: true, force: true });
  }
}
