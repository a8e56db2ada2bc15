import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Core, composeCore } from '../../../src/composeCore';
import { findAdminDirectory } from '../../../src/git/checkouts';
import { settingsSchema } from '../../../src/model/settings';
import type { Task } from '../../../src/model/task';
import type { PermissionDecision } from '../../../src/tasks/permission';
import type { Reply, StrictServer } from '../../wire/support/strictServer';
import { repoAt, type TempRepo } from '../support/tempRepo';
import { askPlainGit, latin1, type RawLine, rawLinesOf } from './oracle';
import { freshRepo, type RepositoryState, usualWork } from './state';
import { differences, type Listing, type Witness, witness, worktreeListing } from './witness';

/** Enough of a Scene to look at it. */
export type Place = Pick<Scene, 'repo' | 'core' | 'worktree'>;

/** A state on its way: the repository, the Task in it, what stood there before. */
export interface Scene {
  readonly state: RepositoryState;
  readonly repo: TempRepo;
  readonly core: Core;
  readonly task: Task;
  readonly worktree: string;
  /** With the agent's work done and the user's edits made, before anything is accepted. */
  readonly before: Witness;
  /** The Worktree as the agent left it. */
  readonly made: Listing;
  readonly head: string | undefined;
  readonly lines: readonly RawLine[];
}

/** Makes the state and has the agent work in it; `undefined` where it ends with that. */
export async function begin(state: RepositoryState, server: StrictServer): Promise<Scene | undefined> {
  const fresh = await freshRepo(state.from ?? 'used');
  const repo = (await state.shape?.(fresh)) ?? fresh;
  const env = { ...process.env, ...state.env?.(repo) };
  const end = state.end ?? { kind: 'lands' };
  if (end.kind === 'refused' && end.code === 'unbornBranch') {
    await refusedAtOnce({ state, repo, env, code: end.code });
    return undefined;
  }
  const core = await open(join(repo.root, state.opened ?? ''), env, server);
  try {
    await trapHooks(core.repository.commonDir);
    const atFirst = await witness(repo.folder);
    const { task, failure } = await runAgent({ state, repo, core, server });
    if (failure !== undefined) {
      assert.deepEqual(end, { kind: 'refused', code: failure });
      assert.deepEqual(differences(atFirst.bytes, (await witness(repo.folder)).bytes), []);
      await core.dispose();
      return undefined;
    }
    const worktree = task.worktreePath ?? assert.fail('there is no worktree');
    const place = { repo, core, worktree };
    await untouched(atFirst, place, state.agentChanges);
    if (end.kind === 'nothing') {
      assert.equal(task.state, 'closed');
      await core.dispose();
      return undefined;
    }
    assert.notEqual(end.kind, 'refused', 'it was not refused');
    await state.user?.(repo);
    const before = await look(place);
    const made = await worktreeListing(worktree);
    const lines = await rightChangeSet({ state, core, task });
    const head = await headOf(worktree);
    return { state, repo, core, task, worktree, before, made, head, lines };
  } catch (error) {
    await core.dispose();
    throw error;
  }
}

async function refusedAtOnce(parts: {
  state: RepositoryState;
  repo: TempRepo;
  env: NodeJS.ProcessEnv;
  code: string;
}): Promise<void> {
  const atFirst = await witness(parts.repo.folder);
  const core = await open(parts.repo.root, parts.env, undefined);
  try {
    await assert.rejects(core.tasks.prepare({ objective: parts.state.title }), { code: parts.code });
  } finally {
    await core.dispose();
  }
  assert.deepEqual(differences(atFirst.bytes, (await witness(parts.repo.folder)).bytes), []);
}

async function open(
  directory: string,
  env: NodeJS.ProcessEnv,
  server: StrictServer | undefined,
): Promise<Core> {
  return composeCore({
    directory,
    settings: () => settingsSchema.parse({ model: { baseUrl: server?.url ?? 'http://127.0.0.1:9' } }),
    env,
    credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
    permission: { ask: async (): Promise<PermissionDecision> => ({ kind: 'allowed', by: 'test' }) },
    appVersion: '0.0.0-test',
  });
}

const finalAnswer =
  'SUMMARY: Done.\n\nCHANGES:\n- a.txt\n\nEVIDENCE:\nNone.\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.';

/** One Run: a command that waits for the files, the agent's work, a command after which it is looked at. */
async function runAgent(parts: {
  state: RepositoryState;
  repo: TempRepo;
  core: Core;
  server: StrictServer;
}): Promise<{ task: Task; failure?: string }> {
  const { state, repo, core, server } = parts;
  const packet = await core.tasks.prepare({ objective: 'Do it' });
  let trouble: unknown;
  let worktree = '';
  let failure: string | undefined;
  const ran = join(core.repository.commonDir, 'ran-hooks');
  const work = async (): Promise<void> => {
    await assert.rejects(stat(ran), { code: 'ENOENT' }, 'a hook ran');
    await (state.agent ?? usualWork)(repoAt(repo.folder, worktree), repo);
    await rm(ran, { force: true });
  };
  server.script(async (_request, index): Promise<Reply> => {
    const bash: Reply = { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'true' } }] };
    if (index === 0) return bash;
    if (index > 1 || trouble !== undefined) return { content: [{ type: 'text', text: finalAnswer }] };
    await work().catch((error: unknown) => {
      trouble = error;
    });
    return bash;
  });
  core.tasks.onDidChangeTask(({ event }) => {
    if (event.type === 'worktree.create.failed') failure = event.code;
    if (event.type === 'worktree.create.completed') worktree = event.path;
  });
  const { settled } = await core.tasks.start({ packet, verify: 'never' });
  const { task, runs } = await settled;
  if (trouble !== undefined) throw trouble;
  if (failure !== undefined) return { task, failure };
  assert.equal(runs[0]?.status.state, 'completed', JSON.stringify(runs[0]?.status));
  return { task };
}

async function rightChangeSet(parts: { state: RepositoryState; core: Core; task: Task }): Promise<RawLine[]> {
  const { state, core, task } = parts;
  const lines = rawLinesOf(await core.tasks.changes(task.id));
  if (state.changes !== undefined) {
    assert.deepEqual(
      lines.map(({ letter, path }) => `${letter} ${path}`),
      [...state.changes].sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1)),
      'the change set',
    );
  } else {
    const said = await askPlainGit(task.worktreePath ?? '', task.packet.repository.base.commit);
    assert.deepEqual(lines, said, 'the change set, as plain git has it');
  }
  return lines;
}

/** Everything outside the Worktree is as it was, but for what the state says of its agent. */
export async function untouched(before: Witness, place: Place, but?: RegExp): Promise<void> {
  const after = await look(place);
  const others = (lines: string[]): string[] => lines.filter((line) => but === undefined || !but.test(line));
  assert.deepEqual(others(differences(before.bytes, after.bytes)), [], 'what is not ours');
  assert.deepEqual(others(differences(before.stamps, after.stamps)), [], 'files that were written over');
}

/** Everything but the Worktree, and what git knows of it. */
export async function look({ repo, core, worktree }: Place): Promise<Witness> {
  const admin = await findAdminDirectory(core.repository.commonDir, worktree);
  return witness(repo.folder, {
    worktree: latin1(relative(repo.folder, worktree)),
    admin: admin === undefined ? '' : latin1(relative(repo.folder, admin)),
  });
}

/** The commit a Worktree stands on; `undefined` on a branch without one, or where git is not told of it. */
export async function headOf(worktree: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  const said = await repoAt(worktree, worktree)
    .git(...args)
    .catch(() => undefined);
  return said?.trim();
}

const hooks =
  'applypatch-msg pre-applypatch post-applypatch pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit pre-rebase post-checkout post-merge pre-push reference-transaction post-index-change post-rewrite pre-auto-gc push-to-checkout update';

/** Every hook that runs leaves a line in a file of the git directory. */
async function trapHooks(commonDir: string): Promise<void> {
  await mkdir(join(commonDir, 'hooks'), { recursive: true });
  for (const hook of hooks.split(' ')) {
    const path = join(commonDir, 'hooks', hook);
    if ((await readFile(path).catch(() => undefined)) !== undefined) continue;
    await writeFile(
      path,
      `#!/bin/sh\necho ${hook} >>'${join(commonDir, 'ran-hooks').replaceAll("'", `'\\''`)}'\n`,
    );
    await chmod(path, 0o755);
  }
}
