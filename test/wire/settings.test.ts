import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import type { TaskId } from '../../src/model/ids';
import { type Settings, settingsSchema } from '../../src/model/settings';
import type { Settled } from '../../src/tasks/taskApi';
import { cleanUp, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from './support/strictServer';

const done: Reply = {
  content: [
    {
      type: 'text',
      text: 'SUMMARY: done\n\nCHANGES:\nNone.\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.',
    },
  ],
};

describe('a core that outlives what it was made of', () => {
  let servers: StrictServer[];
  let repo: TempRepo;
  let settings: Settings;
  let key: string | undefined;
  let core: Core;

  const start = async (objective: string): Promise<{ settled: Promise<Settled> }> =>
    core.tasks.start({ packet: await core.tasks.prepare({ objective }), verify: 'never' });
  const counts = (): number[] => servers.map(({ requests }) => requests.length);

  beforeEach(async () => {
    key = 'test-key';
    servers = [await startStrictServer({ apiKey: 'test-key' }), await startStrictServer({ apiKey: 'other' })];
    for (const server of servers) server.script(() => done);
    settings = settingsSchema.parse({ model: { baseUrl: servers[0]?.url, main: 'claude-sonnet-5-5' } });
    repo = await makeRepo({ files: { 'a.txt': 'one\n' } });
    core = await composeCore({
      directory: repo.root,
      settings: () => settings,
      env: {},
      credentials: async () => (key === undefined ? undefined : { kind: 'apiKey', value: key }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
  });

  afterEach(async () => {
    await core.dispose();
    await Promise.all(servers.map((server) => server.close()));
    await cleanUp();
  });

  it('begins a Run by the settings and the key of that moment, while one that lives keeps its own', async () => {
    let reached: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let answer: (reply: Reply) => void = () => undefined;
    servers[0]?.script((_, index) => {
      if (index > 0) return done;
      reached();
      return new Promise<Reply>((resolve) => {
        answer = resolve;
      });
    });
    const first = await start('Before the change');
    await asked;
    settings = settingsSchema.parse({ model: { baseUrl: servers[1]?.url, main: 'claude-opus-5-5' } });
    key = 'other';
    const [second] = (await (await start('After the change')).settled).runs;
    assert.deepEqual([second?.status.state, second?.model], ['completed', 'claude-opus-5-5']);
    assert.deepEqual(counts(), [1, 1]);
    answer({ content: [{ type: 'tool_use', name: 'Read', input: { file_path: 'a.txt' } }] });
    const [alive] = (await first.settled).runs;
    assert.deepEqual([alive?.status.state, alive?.model], ['completed', 'claude-sonnet-5-5']);
    assert.deepEqual(counts(), [2, 1]);
  });

  it('uses a key that was removed for no new Run', async () => {
    await (await start('With a key')).settled;
    key = undefined;
    const [run] = (await (await start('Without one')).settled).runs;
    const status = run?.status;
    assert.ok(status?.state === 'failed');
    assert.equal(status.end.reason, 'noCredentials');
    assert.deepEqual(counts(), [1, 0]);
  });

  it('says that a Task is gone when the board was deleted under it, and makes a new board for the next', async () => {
    let heard: (id: TaskId) => void = () => undefined;
    const gone = new Promise<TaskId>((resolve) => {
      heard = resolve;
    });
    const following = core.tasks.follow(heard);
    const { task } = await (await start('Goes with its board')).settled;
    await rm(join(repo.root, '.git', 'tributary'), { recursive: true });
    assert.equal(await gone, task.id);
    assert.deepEqual((await core.tasks.list()).tasks, []);
    const next = await (await start('On a new board')).settled;
    assert.deepEqual(
      (await core.tasks.list()).tasks.map(({ id }) => id),
      [next.task.id],
    );
    following.dispose();
  });
});
