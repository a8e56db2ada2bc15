import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Layer, openLayer } from '../git/support/layer';
import { gitAt } from '../git/support/tempRepo';
import { inTurns, type Sample } from './measure';
import type { Comparison } from './report';

const branch = 'refs/heads/tributary/bench';

/** The git layer's work on one repository beside the plain git commands that do the same, each in wall time. */
export class WorktreeBench {
  private readonly root: string;
  private readonly rounds: number;

  constructor(deps: { readonly root: string; readonly rounds: number }) {
    this.root = deps.root;
    this.rounds = deps.rounds;
  }

  async run(): Promise<Comparison[]> {
    const layer = await openLayer(this.root);
    const base = await textOf(gitAt(this.root, 'rev-parse', 'HEAD'));
    const folders = { ours: join(`${this.root}.worktrees`, 'ours'), plain: `${this.root}-plain` };
    const lives = await this.lives(layer, { base, ...folders });
    const looks = await this.looks(layer, { base, ...folders });
    return [...lives, ...looks];
  }

  /** Making and removing, a round each: what was made is removed again. */
  private async lives(layer: Layer, at: Place): Promise<Comparison[]> {
    const removals: { away: Sample[]; ours: Sample[]; plain: Sample[] } = { away: [], ours: [], plain: [] };
    const created = await inTurns(this.rounds, {
      ours: async () => {
        const made = await timed(() => layer.worktrees.create(creation(at)));
        await layer.worktrees.setLock(at.ours, undefined);
        await layer.snapshots.treeOf(at.ours);
        const { away, whole } = await removeOurs(layer, at);
        removals.away.push(away);
        removals.ours.push(whole);
        return made;
      },
      plain: async () => {
        const made = await timed(() => gitAt(this.root, ...addPlain(at)));
        removals.plain.push(await timed(() => gitAt(this.root, 'worktree', 'remove', at.plain)));
        await gitAt(this.root, 'branch', '--quiet', '-D', 'plain');
        return made;
      },
    });
    // The first round of each fills caches.
    return [
      { label: 'git worktree add', product: created.ours, floor: created.plain },
      {
        label: 'git worktree remove, until the Task is discarded',
        product: removals.away.slice(1),
        floor: removals.plain.slice(1),
      },
      {
        label: 'git worktree remove, until the files are gone',
        product: removals.ours.slice(1),
        floor: removals.plain.slice(1),
      },
    ];
  }

  /** What is asked of a Worktree in which one file was edited, before each question anew. */
  private async looks(layer: Layer, at: Place): Promise<Comparison[]> {
    await layer.worktrees.create(creation(at));
    await gitAt(this.root, ...addPlain(at));
    let edits = 0;
    const edit = async (folder: string): Promise<void> => {
      edits += 1;
      await appendFile(join(folder, 'src', 'greet.js'), `// ${edits}\n`);
    };
    const after = async (folder: string, body: () => Promise<unknown>): Promise<Sample> => {
      await edit(folder);
      return timed(body);
    };
    let number = 0;
    const take = async (): Promise<void> => {
      number += 1;
      await layer.snapshots.take({ worktreePath: at.ours, taskId: 'bench', number, message: 'bench' });
    };
    const status = (): Promise<unknown> => gitAt(at.plain, 'status', '--porcelain');
    const snapshot = await inTurns(this.rounds, {
      ours: () => after(at.ours, take),
      plain: () => after(at.plain, status),
    });
    const unchanged = await inTurns(this.rounds, {
      ours: () => timed(() => layer.snapshots.treeOf(at.ours)),
      plain: () => timed(status),
    });
    const tree = await layer.snapshots.treeOf(at.ours);
    const changes = await inTurns(this.rounds, {
      ours: () => timed(() => layer.changes.changeSet(at.base, tree)),
      plain: () => timed(() => gitAt(this.root, 'diff', '--raw', '-M', at.base, tree)),
    });
    const previews = await inTurns(this.rounds, {
      ours: () => timed(() => layer.merges.preview({ checkout: this.root, base: at.base, theirs: tree })),
      plain: () => timed(() => this.plainPreview(at, tree)),
    });
    await layer.worktrees.setLock(at.ours, undefined);
    await removeOurs(layer, at);
    await gitAt(this.root, 'worktree', 'remove', '--force', at.plain);
    return [
      { label: 'git status, after an edit', product: snapshot.ours, floor: snapshot.plain },
      { label: 'git status, unchanged', product: unchanged.ours, floor: unchanged.plain },
      { label: 'git diff', product: changes.ours, floor: changes.plain },
      { label: 'git status and merge-tree', product: previews.ours, floor: previews.plain },
    ];
  }

  private async plainPreview({ base }: Place, tree: string): Promise<void> {
    await gitAt(this.root, 'status', '--porcelain');
    const theirs = await textOf(gitAt(this.root, 'commit-tree', '-p', base, '-m', 'theirs', tree));
    await gitAt(this.root, 'merge-tree', '--write-tree', '-z', 'HEAD', theirs);
  }
}

interface Place {
  readonly base: string;
  readonly ours: string;
  readonly plain: string;
}

function creation({ ours, base }: Place): Parameters<Layer['worktrees']['create']>[0] {
  return { path: ours, branch, commit: base, lockReason: 'bench' };
}

function addPlain({ plain, base }: Place): string[] {
  return ['worktree', 'add', '--quiet', '-b', 'plain', plain, base];
}

/** How long it takes until the Task is told that it is over, and until nothing is left of the folder. */
async function removeOurs(layer: Layer, { ours, base }: Place): Promise<{ away: Sample; whole: Sample }> {
  const asideDirectory = `${ours}-aside`;
  const started = performance.now();
  let away = Number.NaN;
  const onAway = async (): Promise<void> => {
    away = performance.now() - started;
  };
  const request = { path: ours, branch, keptCommit: base, asideDirectory, onAway };
  const whole = await timed(() => layer.worktrees.remove(request));
  await rm(asideDirectory, { recursive: true, force: true });
  return { away: { wall: away }, whole };
}

async function timed(body: () => Promise<unknown>): Promise<Sample> {
  const started = performance.now();
  await body();
  return { wall: performance.now() - started };
}

async function textOf(output: Promise<Buffer>): Promise<string> {
  return (await output).toString('utf8').trim();
}
