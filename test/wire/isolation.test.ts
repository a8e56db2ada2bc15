import assert from 'node:assert/strict';
import { type Core, composeCore } from '../../src/composeCore';
import { settingsSchema } from '../../src/model/settings';
import { cleanUp, fingerprint, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from './support/strictServer';

const writes: Reply = {
  content: [{ type: 'tool_use', name: 'Bash', input: { command: 'echo agent > agent.txt' } }],
};
const done: Reply = { content: [{ type: 'text', text: 'SUMMARY: Done.' }] };

describe('no isolation, no Run', () => {
  let server: StrictServer;
  let repo: TempRepo;
  const cores: Core[] = [];

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeRepo({ files: { 'a.txt': 'one\n' } });
  });
  afterEach(async () => {
    await Promise.all(cores.splice(0).map((core) => core.dispose()));
    await server.close();
    await cleanUp();
  });

  const open = async (root: string): Promise<Core> => {
    const core = await composeCore({
      directory: repo.root,
      settings: () =>
        settingsSchema.parse({
          model: { baseUrl: server.url },
          verify: { when: 'never' },
          worktrees: { root },
        }),
      env: process.env,
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
    cores.push(core);
    return core;
  };

  it('a Task whose start got no Worktree gets one when it goes on: its agent never works in the checkout', async () => {
    const refused = await open('/dev/null/nowhere');
    const packet = await refused.tasks.prepare({ objective: 'Write a file' });
    await assert.rejects(refused.tasks.start({ packet }));
    const core = await open(`${repo.root}.worktrees`);
    const [task] = (await core.tasks.list()).tasks;
    assert.equal(task?.branch, undefined);
    const { files } = await fingerprint(repo.root);
    server.script([writes, done]);
    const { settled } = await core.tasks.followUp(task?.id ?? assert.fail('there is no task'), 'Go on');
    const { task: after, runs } = await settled;
    assert.equal(runs[0]?.status.state, 'completed');
    assert.equal((await fingerprint(repo.root))['files'], files);
    assert.match(after.worktreePath ?? '', /repo\.worktrees/);
    assert.deepEqual(
      (await core.tasks.changes(after.id)).map(({ path }) => path),
      ['agent.txt'],
    );
  });
});
