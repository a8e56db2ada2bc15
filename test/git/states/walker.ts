import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Conflict } from '../../../src/model/landing';
import type { StrictServer } from '../../wire/support/strictServer';
import type { FileSpec } from '../support/tempRepo';
import { latin1, rawLinesOf } from './oracle';
import { begin, headOf, look, type Scene, untouched } from './scene';
import type { RepositoryState } from './state';
import { differences, differing, type Listing, type Witness, worktreeListing } from './witness';

/** A part of the walk leaves out what another look would only say again. */
type WalkPart = 'all' | 'landing' | 'fate';

/**
 * Takes a state through a whole life: start, ChangeSet, preview, accept, undo, discard, restore, accept again; or
 * only as far as undo, or only through discard and restore. After each step everything outside the Worktree must be
 * what it has to be.
 */
export async function walk(state: RepositoryState, server: StrictServer, part: WalkPart): Promise<void> {
  const scene = await begin(state, server);
  if (scene === undefined) return;
  try {
    const end = state.end ?? { kind: 'lands' };
    if (end.kind === 'lands') {
      const landed = part === 'fate' ? undefined : await acceptWhole(scene, part);
      if (landed !== undefined) await undoWhole(scene, part);
      if (part !== 'landing') await putAwayAndBack(scene);
      if (part === 'all') {
        const again = await acceptWhole(scene);
        assert.deepEqual(differences(landed?.bytes ?? new Map(), again.bytes), [], 'accepted again');
      }
    } else if (end.kind === 'conflicts') {
      await refuseWhole(scene, end.paths, part);
      if (part !== 'landing') await putAwayAndBack(scene);
      if (part === 'all') await refuseWhole(scene, end.paths);
    }
  } finally {
    await scene.core.dispose();
  }
}

/** Ends the Task and takes the ending back, again and again, in an order that `random` chooses. */
export async function wander(
  state: RepositoryState,
  server: StrictServer,
  { random, rounds }: { random: (below: number) => number; rounds: number },
): Promise<void> {
  const scene = await begin(state, server);
  if (scene === undefined) return;
  const { end = { kind: 'lands' } } = state;
  try {
    for (let round = 0; round < rounds; round += 1) {
      if (random(2) === 0) await putAwayAndBack(scene);
      else if (end.kind === 'conflicts') await refuseWhole(scene, end.paths);
      else {
        await acceptWhole(scene);
        await undoWhole(scene);
      }
    }
  } finally {
    await scene.core.dispose();
  }
}

/** Accepts what a preview showed, if there is time for one: the ChangeSet lands. */
async function acceptWhole(scene: Scene, part: WalkPart = 'all'): Promise<Witness> {
  const { core, task, before } = scene;
  const expected = landingPaths(scene);
  const first = await look(scene);
  const plan = part === 'all' ? await core.tasks.preview(task.id) : undefined;
  if (plan !== undefined) {
    assert.deepEqual(plan.conflicts, []);
    assert.deepEqual(plan.paths.map(({ path }) => latin1(path)).sort(), expected, 'the preview');
    await untouched(first, scene);
  }
  const outcome = await core.tasks.accept(task.id, plan === undefined ? {} : { expected: plan });
  assert.ok(outcome.kind === 'landed', JSON.stringify(outcome));
  assert.deepEqual(outcome.paths.map(latin1).sort(), expected, 'what has landed');
  const after = await look(scene);
  justDiffer(scene, before, after);
  holdWhatTheyMust(scene, after);
  await assert.rejects(stat(scene.worktree), { code: 'ENOENT' });
  return after;
}

/** Just the paths of the ChangeSet differ, and folders that came or went with them. */
function justDiffer(scene: Scene, before: Witness, after: Witness): void {
  const checkout = checkoutOf(scene);
  const touched = new Set(landingPaths(scene).map((path) => `${checkout}${path}`));
  const changed = differing(before.bytes, after.bytes);
  assert.deepEqual(
    changed.filter((path) => !path.endsWith('/')).sort(),
    [...touched].sort(),
    'what differs after accept',
  );
  for (const folder of changed.filter((path) => path.endsWith('/')))
    assert.ok(
      [...touched].some((path) => `${path}/`.startsWith(folder)),
      `${folder} changed`,
    );
  stampsKept(before, after, touched);
}

function holdWhatTheyMust(scene: Scene, after: Witness): void {
  for (const path of landingPaths(scene)) {
    const wanted = scene.state.lands?.[path];
    assert.equal(
      essence(after.bytes.get(`${checkoutOf(scene)}${path}`)),
      wanted === undefined ? essence(scene.made.get(path)) : specEssence(wanted),
      path,
    );
  }
}

async function undoWhole(scene: Scene, part: WalkPart = 'all'): Promise<void> {
  const outcome = await scene.core.tasks.undo(scene.task.id);
  assert.equal(outcome.kind, 'undone', JSON.stringify(outcome));
  const after = await look(scene);
  assert.deepEqual(differences(scene.before.bytes, after.bytes), [], 'what differs after undo');
  const checkout = checkoutOf(scene);
  stampsKept(scene.before, after, new Set(landingPaths(scene).map((path) => `${checkout}${path}`)));
  await worktreeIsBack(scene, 'undo');
  if (part === 'all') await changeSetIsBack(scene, 'undo');
}

/** Conflicts are told and nothing is written. */
async function refuseWhole(scene: Scene, paths: readonly string[], part: WalkPart = 'all'): Promise<void> {
  const { core, task } = scene;
  const told = (conflicts: readonly Conflict[]): void => {
    const named = new Set(conflicts.map(({ path }) => latin1(path)));
    assert.deepEqual([...named].sort(), [...paths].sort(), JSON.stringify(conflicts));
  };
  if (part === 'all') told((await core.tasks.preview(task.id)).conflicts);
  const outcome = await core.tasks.accept(task.id);
  assert.ok(outcome.kind === 'conflict', JSON.stringify(outcome));
  told(outcome.conflicts);
  await untouched(scene.before, scene);
}

async function putAwayAndBack(scene: Scene): Promise<void> {
  const { core, task, worktree } = scene;
  // An undo has written its files anew.
  const before = await look(scene);
  await core.tasks.discard(task.id);
  await untouched(before, scene);
  await assert.rejects(stat(worktree), { code: 'ENOENT' });
  await core.tasks.restore(task.id);
  await untouched(before, scene);
  await worktreeIsBack(scene, 'restore');
  await changeSetIsBack(scene, 'restore');
}

/** All the agent made is there again, ignored files included, on the commit it stood on. */
async function worktreeIsBack(scene: Scene, after: string): Promise<void> {
  const { state } = scene;
  const now = await worktreeListing(scene.worktree);
  const free = new Set(state.restoredByGit ?? []);
  const different = differing(essences(scene.made), essences(now)).filter((path) => !free.has(path));
  assert.deepEqual(
    different.map((path) => `${path}: ${scene.made.get(path)} -> ${now.get(path)}`),
    [],
    `the worktree after ${after}`,
  );
  if (scene.head !== undefined)
    assert.equal(await headOf(scene.worktree), scene.head, `HEAD of the worktree after ${after}`);
}

/** Also what only the index of the Worktree told. */
async function changeSetIsBack({ core, task, lines }: Scene, after: string): Promise<void> {
  assert.deepEqual(rawLinesOf(await core.tasks.changes(task.id)), lines, `the change set after ${after}`);
}

function stampsKept(before: Witness, after: Witness, touched: ReadonlySet<string>): void {
  const changed = differing(before.stamps, after.stamps).filter((path) => !touched.has(path));
  assert.deepEqual(changed, [], 'other files that were written over');
}

function checkoutOf({ repo }: Scene): string {
  return `${latin1(relative(repo.folder, repo.root))}/`;
}

/** What accepting has to write: the ChangeSet, but for what the state says otherwise. */
function landingPaths({ lines, state }: Scene): string[] {
  const lands = state.lands ?? {};
  const paths = new Set([...lines.map(({ path }) => path), ...Object.keys(lands)]);
  return [...paths].filter((path) => lands[path] !== 'as before').sort();
}

/** Kind, content and the one bit of the mode that git knows. */
function essence(line: string | undefined): string {
  if (line === undefined) return 'absent';
  const match = /^file (\d+) ([\s\S]*)$/.exec(line);
  if (match === null) return line;
  return `file ${Number.parseInt(match[1] ?? '', 8) & 0o100 ? 'x' : '-'} ${match[2]}`;
}

function essences(listing: Listing): Map<string, string> {
  const files = [...listing].filter(([path]) => !path.endsWith('/'));
  return new Map(files.map(([path, line]) => [path, essence(line)]));
}

function specEssence(spec: FileSpec | 'absent' | 'as before'): string {
  if (spec === 'absent') return spec;
  if (typeof spec === 'string') return `file - ${Buffer.from(spec).toString('latin1')}`;
  if (Buffer.isBuffer(spec)) return `file - ${spec.toString('latin1')}`;
  return 'link' in spec ? `link ${spec.link}` : `file x ${spec.executable}`;
}
