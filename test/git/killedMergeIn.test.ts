import assert from 'node:assert/strict';
import type { Core } from '../../src/composeCore';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { differences } from './states/witness';
import { cleanUp, makeRepo, type TempRepo } from './support/tempRepo';
import { openCore, perform } from './walk/perform';
import { StepProcesses } from './walk/processes';
import { usersState, worktreeFiles } from './walk/witness';

const points = String.raw`rename .*(task|index)\.json$|update-ref|read-tree|checkout-index|hash-object`;

describe('merging the checkout in, killed at any point', () => {
  let server: StrictServer;
  let processes: StepProcesses;
  let repo: TempRepo;
  let core: Core;

  before(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    processes = await StepProcesses.make();
    repo = await makeRepo({ files: { 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n', '.gitignore': '*.log\n' } });
    core = await openCore(repo.root, server.url);
    const command = "printf '1\\n2\\ntask\\n' > a.txt; echo new > new.txt; echo log > x.log";
    server.script([
      { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] },
      { content: [{ type: 'text', text: 'SUMMARY: Done.' }] },
    ]);
    await perform(core, { verb: 'start', seed: 1 });
  });
  after(async () => {
    await core.dispose();
    await processes.remove();
    await server.close();
    await cleanUp();
  });

  it('the Worktree and the records are as before the merge or as after it', async function () {
    this.timeout(180_000);
    const [task] = (await core.tasks.list()).tasks;
    const id = task?.id ?? assert.fail('there is no task');
    const worktree = task?.worktreePath ?? assert.fail('there is no worktree');
    const seen = { before: 0, after: 0 };
    for (let at = 1, isKilled = true; isKilled; at += 1) {
      // As after: the next one has something to merge again.
      await repo.write('b.txt', `by the user, ${seen.after}\n`);
      await repo.write(`mine-${seen.after}.txt`, 'mine\n');
      const was = await core.tasks.find(id);
      const stood = await worktreeFiles(worktree);
      const users = await usersState(repo);
      const call = { verb: 'mergeIn', taskId: id, seed: 1 } as const;
      const fault = { kind: 'kill', at, match: points } as const;
      const came = await processes.perform({ directory: repo.root, baseUrl: server.url, call, fault });
      isKilled = came.outcome === 'killed';
      const board = await core.tasks.list();
      assert.deepEqual(board.problems, []);
      const now = (await core.tasks.find(id)).task;
      const stands = await worktreeFiles(worktree);
      assert.deepEqual(differences(users.files, (await usersState(repo)).files), []);
      const isAfter = now.movedBases.length > was.task.movedBases.length;
      seen[isAfter ? 'after' : 'before'] += 1;
      if (isAfter) {
        assert.equal(stands.get('b.txt'), users.files.get('b.txt'), `killed at ${at}`);
        assert.equal(now.snapshot?.tree, now.movedBases.at(-1)?.result, `killed at ${at}`);
        const head = (await repo.git('-C', worktree, 'rev-parse', 'HEAD')).trim();
        assert.equal(head, now.movedBases.at(-1)?.commit, `killed at ${at}`);
      } else assert.deepEqual(differences(stood, stands), [], `killed at ${at}`);
      const changed = (await core.tasks.changes(id)).map(({ path }) => path);
      assert.deepEqual(changed, ['a.txt', 'new.txt'], `killed at ${at}`);
    }
    assert.ok(seen.before > 1 && seen.after > 1, JSON.stringify(seen));
  });
});
