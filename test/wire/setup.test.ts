import assert from 'node:assert/strict';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import { settingsSchema } from '../../src/model/settings';
import type { Settled, TaskDraft } from '../../src/tasks/taskApi';
import { cleanUp, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from './support/strictServer';

const nothingToDo =
  'SUMMARY: Nothing to do.\n\nCHANGES:\nNone.\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.';

describe('set-up commands in the core', () => {
  let server: StrictServer;
  let repo: TempRepo;
  let core: Core;
  let log: string;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(() => ({ content: [{ type: 'text', text: nothingToDo }] }));
    repo = await makeRepo({ files: { 'a.txt': 'one\n' } });
    log = join(repo.folder, 'log');
    await appendFile(log, '');
    core = await composeCore({
      directory: repo.root,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url } }),
      env: { ...process.env, LOG: log },
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
  });
  afterEach(async () => {
    await core.dispose();
    await server.close();
    await cleanUp();
  });

  const run = async (setup: TaskDraft['setup']): Promise<Settled> => {
    const packet = await core.tasks.prepare({ objective: 'Look around', ...(setup && { setup }) });
    return (await core.tasks.start({ packet })).settled;
  };

  it('are ended with all they started when their time is up, and that is a failed start', async () => {
    const child = 'sh -c \'sleep 60; echo late >> "$LOG"\'';
    const { task, runs } = await run({ commands: [`echo begun; ${child} & ${child}`], timeoutMs: 400 });
    assert.equal(runs[0]?.status.state, 'failed');
    const [done] = task.setup?.commands ?? [];
    assert.deepEqual([task.setup?.state, done?.reason, done?.output], ['failed', 'timeout', 'begun']);
    assert.equal((await repo.git('worktree', 'list')).trim().split('\n').length, 1);
    assert.equal(await readFile(log, 'utf8'), '');
  });

  it('have their tear-down also when the Run changed nothing and the Task closes', async () => {
    const echo = (word: string): string => `echo ${word} >> "$LOG"`;
    const { task } = await run({ commands: [echo('up')], teardown: [echo('down'), 'exit 3', echo('last')] });
    assert.equal(task.state, 'closed');
    assert.equal(await readFile(log, 'utf8'), 'up\ndown\nlast\n');
    assert.deepEqual(
      task.setup?.teardown?.map(({ exitCode }) => exitCode),
      [0, 3, 0],
    );
    assert.equal(task.setup?.state, 'due');
  });

  it('are told of, when each begins and ends, together with what the record says of it then', async () => {
    const told: string[] = [];
    core.tasks.onDidChangeTask(({ task: { setup }, event }) => {
      if (event.type === 'worktree.command.started') told.push(`begins: ${setup?.current}`);
      if (event.type === 'worktree.command.ended')
        told.push(`${setup?.state}: ${setup?.commands.map(({ output }) => output).join()}`);
    });
    await run({ commands: ['echo one', 'echo two; exit 3'] });
    assert.deepEqual(told, [
      'begins: echo one',
      'running: one',
      'begins: echo two; exit 3',
      'failed: one,two',
    ]);
  });

  it('are none where there is nothing to make ready: the record says nothing of it', async () => {
    const { task } = await run(undefined);
    assert.equal(task.setup, undefined);
  });

  it('do not run for a reader in the checkout', async () => {
    const packet = await core.tasks.prepare({
      objective: 'Look',
      setup: { commands: ['echo up >> "$LOG"'] },
    });
    await (await core.tasks.start({ packet, agent: 'explore' })).settled;
    assert.equal(await readFile(log, 'utf8'), '');
  });
});
