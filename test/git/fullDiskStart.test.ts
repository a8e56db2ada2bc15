import assert from 'node:assert/strict';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { cleanUp, fingerprint, makeRepo } from './support/tempRepo';
import { openCore } from './walk/perform';
import { StepProcesses } from './walk/processes';

describe('a start on a full disk', () => {
  let server: StrictServer;
  let processes: StepProcesses;

  before(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    processes = await StepProcesses.make();
  });
  after(async () => {
    await processes.remove();
    await server.close();
    await cleanUp();
  });

  it('a Task that got no Worktree gets one when it goes on: its agent never works in the checkout', async () => {
    const repo = await makeRepo({ files: { 'a.txt': 'one\n' } });
    for (const at of [8, 9, 10, 11, 12]) {
      const fault = { kind: 'full', at, lasting: 1000 } as const;
      const call = { verb: 'start', seed: 1 } as const;
      await processes.perform({ directory: repo.root, baseUrl: server.url, call, fault });
    }
    const core = await openCore(repo.root, server.url);
    try {
      const task = (await core.tasks.list()).tasks.find(
        ({ state, branch }) => state === 'open' && branch === undefined,
      );
      const { files } = await fingerprint(repo.root);
      const command = 'echo agent > agent.txt';
      server.script([
        { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] },
        { content: [{ type: 'text', text: 'SUMMARY: Done.' }] },
      ]);
      const { settled } = await core.tasks.resume(task?.id ?? assert.fail('there is no such task'));
      const { task: after } = await settled;
      assert.equal((await fingerprint(repo.root))['files'], files);
      const changed = (await core.tasks.changes(after.id)).map(({ path }) => path);
      assert.deepEqual(changed, ['agent.txt']);
    } finally {
      await core.dispose();
    }
  });
});
