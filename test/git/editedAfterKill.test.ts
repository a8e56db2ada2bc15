import assert from 'node:assert/strict';
import { appendFile, cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Core } from '../../src/composeCore';
import { unlessMissing } from '../../src/git/checkouts';
import type { TaskId } from '../../src/model/ids';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { cleanUp, makeRepo, type TempRepo } from './support/tempRepo';
import { openCore, perform } from './walk/perform';
import { StepProcesses } from './walk/processes';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;

/** Where something is written that its user sees: files of the checkout, index and branch. */
const points = String.raw`rename .*(repo/[^/]+|\.git/index)$|unlink .*repo/[^/]+$|update-ref`;

/** Both edited at their start by the Task and at their end by the user, so that no merge conflicts. */
const mergeable = ['a.txt', 'b.txt', 'z.txt'];
const names = [...mergeable, 'gone.txt', 'new.txt'];
const typed = 'typed by the user\n';
const textOf = (name: string): string =>
  Array.from({ length: 12 }, (_, index) => `line ${index + 1} of ${name}\n`).join('');
/** Seeds of the modes, see `modeOf`. */
const seeds = { apply: 1, commit: 3 };

type Files = Readonly<Record<string, string | undefined>>;

describe('an accept or undo killed at any point, after which its user edited one of its files', () => {
  let server: StrictServer;
  let processes: StepProcesses;
  let repo: TempRepo;
  let id: TaskId;
  let old: Files;
  let changed: Files;
  let core: Core | undefined;

  const files = async (): Promise<Files> => {
    const read = (name: string) => readFile(join(repo.root, name), 'utf8').catch(unlessMissing);
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)])));
  };
  const copy = (from: string, to: string): Promise<void> =>
    cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const kept = (state: string): string => `${repo.folder}-${state}`;
  const bringBack = async (state: string): Promise<void> => {
    await rm(repo.folder, { recursive: true });
    await copy(kept(state), repo.folder);
  };
  const open = async (): Promise<Core> => {
    await core?.dispose();
    core = await openCore(repo.root, server.url);
    return core;
  };
  const close = async (): Promise<void> => {
    await core?.dispose();
    core = undefined;
  };

  before(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    processes = await StepProcesses.make();
    const texts = [...mergeable, 'gone.txt'].map((name) => [name, textOf(name)]);
    repo = await makeRepo({ files: Object.fromEntries(texts) });
    await repo.git('config', 'user.name', 'Ada User');
    await repo.git('config', 'user.email', 'ada@example.invalid');
    old = await files();
    const command = "sed -i '1s/.*/first, changed/' a.txt b.txt z.txt; echo new > new.txt; rm gone.txt";
    server.script([
      { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] },
      { content: [{ type: 'text', text: 'SUMMARY: Done.' }] },
    ]);
    const first = await open();
    await perform(first, { verb: 'start', seed: 1 });
    id = (await first.tasks.list()).tasks[0]?.id ?? assert.fail('there is no task');
    await close();
    await copy(repo.folder, kept('open'));
    for (const mode of ['apply', 'commit'] as const) {
      assert.equal((await (await open()).tasks.accept(id, { mode })).kind, 'landed');
      changed = await files();
      await close();
      await copy(repo.folder, kept(mode));
      await bringBack('open');
    }
  });
  after(async () => {
    await close();
    for (const state of ['open', 'apply', 'commit']) await rm(kept(state), { recursive: true, force: true });
    await processes.remove();
    await server.close();
    await cleanUp();
  });

  for (const mode of ['apply', 'commit'] as const)
    for (const verb of ['accept', 'undo'] as const)
      it(`${verb}, mode ${mode}: ends as what holds for the rest, the edit stands, and the way on is named`, async function () {
        this.timeout(isLong ? 3_600_000 : 180_000);
        let kills = 0;
        for (let at = 1, isKilled = true; isKilled; at += isLong ? 1 : 2)
          for (const name of isLong ? names : [names[at % names.length] ?? '']) {
            await bringBack(verb === 'accept' ? 'open' : mode);
            const call = { verb, taskId: id, seed: seeds[mode] };
            const fault = { kind: 'kill', at, match: points } as const;
            const came = await processes.perform({ directory: repo.root, baseUrl: server.url, call, fault });
            isKilled = came.outcome === 'killed';
            if (!isKilled) break;
            kills += 1;
            await appendFile(join(repo.root, name), typed);
            await settledAndOn({ name, mode, where: `${name} edited after a kill at ${at}` });
          }
        assert.ok(kills > 2, `${kills}`);
      });

  async function settledAndOn({
    name,
    mode,
    where,
  }: {
    name: string;
    mode: 'apply' | 'commit';
    where: string;
  }): Promise<void> {
    const edited = (await files())[name];
    const { tasks } = await open();
    const { problems } = await tasks.list();
    const { task } = await tasks.find(id);
    assert.equal(task.pending, undefined, where);
    assert.deepEqual((await tasks.list()).problems, [], where);
    const side = task.state === 'accepted' ? changed : old;
    assert.deepEqual(await files(), { ...side, [name]: edited }, where);
    const said = problems.map(({ message }) => message).join('\n');
    if (said !== '')
      assert.match(said, new RegExp(`${name}.*(tributary (accept|undo) ${task.slug}|it is undone)`), where);
    assert.deepEqual(task.cutOff?.paths, said === '' ? undefined : [name], where);
    const commits = (await repo.git('rev-list', '--count', 'HEAD')).trim();
    assert.equal(commits, mode === 'commit' && task.state === 'accepted' ? '2' : '1', where);
    const way =
      task.state === 'accepted' ? await tasks.undo(id, { merge: true }) : await tasks.accept(id, { mode });
    const now = await files();
    if (way.kind === 'conflict' || way.kind === 'stale') {
      assert.ok(mode === 'commit' || !mergeable.includes(name), `${where}: ${JSON.stringify(way)}`);
      assert.equal(now[name], edited, where);
      return;
    }
    const other = way.kind === 'undone' ? old : changed;
    const mine = mergeable.includes(name) ? `${other[name]}${typed}` : now[name];
    assert.deepEqual(now, { ...other, [name]: mine }, where);
  }
});
