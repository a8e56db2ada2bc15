import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import { driftText } from '../../src/model/alarm';
import { settingsSchema } from '../../src/model/settings';
import { openAlarms, type Task } from '../../src/model/task';
import type { Settled, TaskDraft } from '../../src/tasks/taskApi';
import { cleanUp, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type Reply, type Script, type StrictServer, startStrictServer } from './support/strictServer';

const bash = (command: string): Reply => ({
  content: [{ type: 'tool_use', name: 'Bash', input: { command } }],
});
const done: Reply = {
  content: [
    {
      type: 'text',
      text: 'SUMMARY: Done.\n\nCHANGES:\nNone.\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.',
    },
  ],
};

/** Replies in order, counted by what the model has said so far. */
function inOrder(replies: readonly Reply[], before?: () => Promise<void>): Script {
  return async (request) => {
    await before?.();
    const { messages } = request.body;
    const said = Array.isArray(messages)
      ? messages.filter((message) => JSON.stringify(message).includes('"role":"assistant"')).length
      : 0;
    return replies[said] ?? done;
  };
}

describe('alarms around the commands of agents', () => {
  let server: StrictServer;
  let repo: TempRepo;
  let core: Core;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeRepo({ files: { 'a.txt': 'one\n', '.gitattributes': '*.enc filter=enc merge=enc\n' } });
    await repo.git('config', 'user.name', 'Ada');
    await repo.git('config', 'user.email', 'ada@example.invalid');
    core = await composeCore({
      directory: repo.root,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url }, verify: { when: 'never' } }),
      env: process.env,
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

  /** A script in the Worktree is what the guard cannot read. */
  const script = (text: string): string =>
    `printf '%s\\n' ${JSON.stringify(text).replaceAll('$', '\\$')} > reach.sh; sh reach.sh`;
  const run = async (replies: readonly Reply[], more: Partial<TaskDraft> = {}): Promise<Settled> => {
    server.script(inOrder(replies));
    const packet = await core.tasks.prepare({ objective: 'Reach out', ...more });
    return (await core.tasks.start({ packet })).settled;
  };
  const rows = (task: Task): string[] => openAlarms(task).flatMap(({ changes }) => changes.map(driftText));

  it('a script that moves a branch raises one: with the Task, as a note, as an event, and to the model', async () => {
    await repo.git('branch', 'side');
    const old = (await repo.git('rev-parse', 'side')).trim();
    const now = await repo.commitAll('second');
    const told: string[] = [];
    core.tasks.onDidChangeTask(({ event }) => told.push(event.type));
    const reach = script(`git -C '${repo.root}' update-ref refs/heads/side refs/heads/main`);
    const { task } = await run([bash(reach)]);
    assert.deepEqual(rows(task), [`refs/heads/side: ${old.slice(0, 12)} -> ${now.slice(0, 12)}`]);
    assert.equal(task.alarms[0]?.command, reach);
    assert.deepEqual(task.alarms[0]?.changes[0], {
      kind: 'ref',
      name: 'refs/heads/side',
      before: old,
      after: now,
    });
    assert.ok(told.includes('alarm'));
    const { entries } = await core.tasks.transcript(task.id, task.runs[0]?.id ?? assert.fail());
    const note = entries.find((entry) => entry.type === 'note');
    assert.match(
      note?.type === 'note' ? note.text : '',
      /refs\/heads\/side: .* -> [\s\S]*The command: printf/,
    );
    const ended = entries.find((entry) => entry.type === 'tool.ended');
    assert.match(JSON.stringify(ended), /\[alarm\] Changed outside the Worktree while this command ran/);
    assert.match(server.requests.at(-1)?.rawBody ?? '', /\[alarm\] Changed outside/);
  });

  it('what the user does between two commands raises none', async () => {
    let asked = 0;
    server.script(
      inOrder([bash('echo one > b.txt'), bash('echo two > b.txt')], async () => {
        asked += 1;
        if (asked === 2) await repo.commitAll('the user was here');
      }),
    );
    const packet = await core.tasks.prepare({ objective: 'Work beside the user' });
    const { task } = await (await core.tasks.start({ packet })).settled;
    assert.equal(asked, 3);
    assert.deepEqual(task.alarms, []);
  });

  it('an agent that commits, makes a branch and works on it raises none', async () => {
    const steps = [
      'echo 1 > c && git add c && git commit -qm one',
      'git checkout -q -b feature && git commit -q --allow-empty -m two',
      'git commit -q --allow-empty -m three && git checkout -q --detach',
    ];
    const { task } = await run(steps.map(bash));
    assert.deepEqual(task.alarms, []);
    assert.deepEqual(task.branchesMade, ['refs/heads/feature']);
    assert.match(await repo.git('log', '--format=%s', 'feature'), /^three\ntwo\none\n/);
  });

  it('two Runs at once raise none by what is their own', async () => {
    const steps = Array.from({ length: 6 }, (_, at) =>
      bash(
        `echo ${at} > c && git add c && git commit -qm ${at} && git checkout -q --detach && git switch -q -c b$$`,
      ),
    );
    server.script(inOrder(steps));
    const settled = await Promise.all(
      ['One thing', 'Another thing'].map(async (objective) => {
        const packet = await core.tasks.prepare({ objective });
        return (await core.tasks.start({ packet })).settled;
      }),
    );
    for (const { task } of settled) assert.deepEqual(rows(task), []);
  });

  it('a Check that stages something in the checkout raises one, noted with the Run it judges', async () => {
    const check = `cd '${repo.root}' && echo x > staged.txt && git add staged.txt`;
    const { task } = await run([bash('echo two > a.txt')], { checks: [check] });
    server.script(inOrder([done]));
    const { task: verified } = await (await core.tasks.verify(task.id)).settled;
    assert.deepEqual(rows(verified), [`what is staged in ${repo.root}`]);
    const { entries } = await core.tasks.transcript(task.id, task.runs[0]?.id ?? assert.fail());
    assert.ok(entries.some((entry) => entry.type === 'note' && entry.code === 'alarm'));
  });

  it('stay until they are dismissed, and in the record after that', async () => {
    const { task } = await run([bash(script(`git -C '${repo.root}' tag planted`))]);
    assert.equal(openAlarms((await core.tasks.find(task.id)).task).length, 1);
    const dismissed = await core.tasks.dismissAlarms(task.id);
    assert.deepEqual([openAlarms(dismissed).length, dismissed.alarms.length], [0, 1]);
  });

  it('a filter or merge driver that came later is off for the Task and raises an alarm; one that was there stays', async () => {
    await repo.git('config', 'filter.old.clean', 'tr a-z A-Z');
    await repo.write('.gitattributes', '*.enc filter=enc merge=enc\n*.old filter=old\n');
    await repo.commitAll('attributes');
    const planted = join(repo.folder, 'planted');
    const evil = `sh -c 'echo ran >> ${planted}; cat'`;
    const plant = script(
      `git config filter.enc.clean "${evil.replaceAll('"', '\\"')}"; git config merge.enc.driver "touch ${planted}"`,
    );
    const { task } = await run([bash(plant), bash('echo secret > x.enc && echo loud > y.old')]);
    assert.deepEqual(
      rows(task).map((row) => row.split(',')[0]),
      [`the configuration file ${join(repo.root, '.git', 'config')}`, 'filter.enc', 'merge.enc'],
    );
    await assert.rejects(readFile(planted));
    assert.deepEqual(
      [
        await repo.git('show', `${task.snapshot?.commit}:x.enc`),
        await repo.git('show', `${task.snapshot?.commit}:y.old`),
      ],
      ['secret\n', 'LOUD\n'],
    );
    await writeFile(join(repo.root, 'x.enc'), 'mine\n');
    const outcome = await core.tasks.preview(task.id);
    assert.deepEqual(
      outcome.conflicts.map(({ path }) => path),
      ['x.enc'],
    );
    await assert.rejects(readFile(planted));
  });

  it('a driver that the user set up between two commands is off for the Task, and that is said once', async () => {
    let asked = 0;
    server.script(
      inOrder([bash('echo 1 > b.txt'), bash('echo 2 > b.txt'), bash('echo 3 > b.txt')], async () => {
        asked += 1;
        if (asked === 2) await repo.git('config', 'filter.lfs.clean', 'cat');
      }),
    );
    const packet = await core.tasks.prepare({ objective: 'Work on' });
    const { task } = await (await core.tasks.start({ packet })).settled;
    assert.equal(task.alarms.length, 1);
    assert.equal(task.alarms[0]?.command, undefined);
    assert.match(rows(task).join(), /^filter\.lfs, which git would run, is not as it was/);
  });
});
