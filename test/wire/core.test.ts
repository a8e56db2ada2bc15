import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import { settingsSchema } from '../../src/model/settings';
import { currentVerdict, openFindings, type Task, verdictOn } from '../../src/model/task';
import type { PermissionDecision } from '../../src/tasks/permission';
import type { Settled } from '../../src/tasks/taskApi';
import { cleanUp, fingerprint, makeRepo, type TempRepo } from '../git/support/tempRepo';
import {
  type RecordedRequest,
  type Reply,
  type Script,
  type StrictServer,
  startStrictServer,
} from './support/strictServer';

const answer = (summary: string): Reply => ({
  content: [
    {
      type: 'text',
      text: `SUMMARY: ${summary}\n\nCHANGES:\nNone.\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.`,
    },
  ],
});
const verdictAnswer = (word: string): Reply => {
  const said = answer('judged').content?.[0];
  const text = said !== undefined && 'text' in said ? said.text : '';
  return { content: [{ type: 'text', text: `${String(text)}\n\nVERDICT: ${word}` }] };
};
const use = (name: string, input: unknown): Reply => ({ content: [{ type: 'tool_use', name, input }] });
const write = (path: string, content: string): Reply => use('Write', { file_path: path, content });
const bash = (command: string): Reply => use('Bash', { command });

/** Which agent asks, from the system prompt, and how many answers it has had. */
function askerOf(request: RecordedRequest): { agent: string; turn: number } {
  const agent = /Agent: (\w+)/.exec(request.rawBody)?.[1] ?? '';
  const { messages } = request.body;
  const turn = Array.isArray(messages)
    ? messages.filter((message) => JSON.stringify(message).includes('"role":"assistant"')).length
    : 0;
  return { agent, turn };
}

/** Replies by agent, in order; the last one of an agent stays. */
function cast(parts: Readonly<Record<string, readonly Reply[]>>): Script {
  return (request) => {
    const { agent, turn } = askerOf(request);
    const replies = parts[agent] ?? [answer('nothing to do')];
    return replies[Math.min(turn, replies.length - 1)] ?? answer('nothing to do');
  };
}

describe('the core over real git, the real SDK and a strict server', () => {
  let server: StrictServer;
  let repo: TempRepo;
  const cores: Core[] = [];

  const open = async (): Promise<Core> => {
    const core = await composeCore({
      directory: repo.root,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url } }),
      env: process.env,
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async (): Promise<PermissionDecision> => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
    cores.push(core);
    return core;
  };
  const run = async (
    core: Core,
    parts: Parameters<Core['tasks']['prepare']>[0],
    more: { agent?: string; verify?: 'always' | 'never' } = {},
  ): Promise<Settled> => {
    const packet = await core.tasks.prepare(parts);
    return (await core.tasks.start({ packet, ...more })).settled;
  };
  const worktreeOf = (task: Task): string => task.worktreePath ?? assert.fail('the task has no worktree');

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeRepo({ files: { 'a.txt': 'one\n', 'b.txt': 'two\n', 'AGENTS.md': 'Use tabs.\n' } });
  });

  afterEach(async () => {
    await Promise.all(cores.splice(0).map((core) => core.dispose()));
    await server.close();
    await cleanUp();
    assert.deepEqual(server.refusals, []);
  });

  it('a Run that changed nothing closes its Task and takes its Worktree away', async () => {
    server.script(cast({ general: [answer('nothing to do')] }));
    const core = await open();
    const { task } = await run(core, { objective: 'Look around' });
    assert.equal(task.state, 'closed');
    assert.equal((await repo.git('worktree', 'list')).trim().split('\n').length, 1);
    assert.equal((await repo.git('branch', '--list', 'tributary/*')).trim(), '');
  });

  it('a read-only agent started by the user runs in place: no Worktree, no branch, no worktree event', async () => {
    server.script(cast({ explore: [use('Read', { file_path: 'a.txt' }), answer('found it')] }));
    const core = await open();
    const told: string[] = [];
    core.tasks.onDidChangeTask(({ event }) => told.push(event.type));
    const { task, runs } = await run(core, { objective: 'Where is one' }, { agent: 'explore' });
    assert.equal(runs[0]?.status.state, 'completed');
    assert.equal(task.branch, undefined);
    assert.deepEqual(
      told.filter((type) => type.startsWith('worktree.')),
      [],
    );
  });

  it('HEAD, staged tree, stash, refs that are not ours and status are the same before and after a Run that commits', async () => {
    await repo.write('b.txt', 'staged\n');
    await repo.git('add', 'b.txt');
    await repo.write('a.txt', 'dirty\n');
    const before = await fingerprint(repo.root);
    server.script(
      cast({
        general: [
          write('new.txt', 'new\n'),
          bash('git add -A && git -c user.name=x -c user.email=x@y.invalid commit -qm own'),
          answer('done'),
        ],
      }),
    );
    const { task } = await run(await open(), { objective: 'Add a file' }, { verify: 'never' });
    const after = await fingerprint(repo.root);
    const ours = (refs: string | undefined): string =>
      (refs ?? '')
        .split('\n')
        .filter((line) => !line.startsWith('refs/heads/tributary/'))
        .join('\n');
    assert.deepEqual({ ...after, refs: ours(after['refs']) }, { ...before, refs: ours(before['refs']) });
    assert.ok(task.snapshot !== undefined);
  });

  it('a Verdict is bound to the tree that stood in the Worktree, edits by hand included, and keeps them', async () => {
    const own = 'test -f new.txt';
    server.script(
      cast({
        general: [write('new.txt', 'new\n'), answer('done')],
        verification: [
          bash(own),
          use('ReportCheck', {
            title: 'there',
            command: own,
            call: 1,
            exitCode: 0,
            observed: '',
            result: 'pass',
          }),
          verdictAnswer('PASS'),
        ],
      }),
    );
    const core = await open();
    const first = await run(core, { objective: 'Add a file' }, { verify: 'never' });
    await writeFile(join(worktreeOf(first.task), 'by-hand.txt'), 'mine\n');
    const { verdict, task } = await (await core.tasks.verify(first.task.id)).settled;
    assert.equal(verdict?.verdict, 'PASS', verdict?.reasons.join('; '));
    assert.equal(verdict?.tree, task.snapshot?.tree);
    assert.match(await repo.git('ls-tree', '--name-only', verdict?.tree ?? ''), /by-hand\.txt/);
    assert.equal(await readFile(join(worktreeOf(task), 'by-hand.txt'), 'utf8'), 'mine\n');
  });

  it('a verifier that changes a recorded file voids the Verdict; the tree is restored, and what it wrote is kept under a ref of ours', async () => {
    server.script(
      cast({
        general: [write('new.txt', 'new\n'), answer('done')],
        verification: [bash('echo tampered > new.txt; echo left > extra.txt'), verdictAnswer('PASS')],
      }),
    );
    const { verdict, task } = await run(await open(), { objective: 'Add a file' }, { verify: 'always' });
    assert.equal(verdict?.verdict, 'none');
    assert.match(verdict?.reasons.join(' ') ?? '', /new\.txt/);
    assert.equal(await readFile(join(worktreeOf(task), 'new.txt'), 'utf8'), 'new\n');
    assert.equal((await repo.git('-C', worktreeOf(task), 'status', '--porcelain')).trim(), '?? new.txt');
    const refs = (await repo.git('for-each-ref', '--format=%(refname)', 'refs/tributary')).trim().split('\n');
    const kept = await Promise.all(refs.map((ref) => repo.git('ls-tree', '--name-only', ref)));
    assert.ok(kept.some((names) => names.includes('extra.txt')));
  });

  it('a fix Run is told the open Findings and never the verifier’s prose; dismissed ones are left out', async () => {
    const finding = (line: number, title: string): Reply =>
      use('ReportFinding', { path: 'a.txt', line, severity: 'error', title, detail: 'as it says' });
    server.script(
      cast({
        general: [write('new.txt', 'new\n'), answer('done')],
        verification: [
          bash('false'),
          use('ReportCheck', {
            title: 'breaks',
            command: 'false',
            call: 1,
            exitCode: 1,
            observed: 'no',
            result: 'fail',
          }),
          finding(1, 'first fault'),
          finding(1, 'second fault'),
          verdictAnswer('FAIL'),
        ],
      }),
    );
    const core = await open();
    const { task, verdict } = await run(core, { objective: 'Add a file' }, { verify: 'always' });
    assert.equal(verdict?.verdict, 'FAIL');
    const second =
      verdict?.findings.find((one) => one.title === 'second fault') ?? assert.fail('no second finding');
    const dismissed = await core.tasks.dismiss(task.id, second.id, 'intended');
    assert.deepEqual(
      openFindings(dismissed).map((one) => one.title),
      ['first fault'],
    );
    const begun = await core.tasks.fix(task.id);
    assert.ok(begun.kind === 'started');
    const settled = await begun.settled;
    const fixRun = settled.runs.find((one) => one.kind === 'fix') ?? assert.fail('no fix run');
    assert.match(fixRun.instruction, /first fault/);
    assert.doesNotMatch(fixRun.instruction, /second fault|judged/);
    const asked = server.requests.filter((request) => request.rawBody.includes('Run kind: verify'));
    assert.ok(asked.length >= 2);
    for (const request of asked) assert.doesNotMatch(request.rawBody, /SUMMARY: done/);
  });

  it('a follow-up goes on in the same conversation: the earlier request is its beginning, byte for byte', async () => {
    server.script(cast({ general: [write('new.txt', 'new\n'), answer('done'), answer('more done')] }));
    const core = await open();
    const { task } = await run(core, { objective: 'Add a file' }, { verify: 'never' });
    const before = server.requests.at(-1)?.body['messages'];
    const settled = await (await core.tasks.followUp(task.id, 'And now more')).settled;
    assert.equal(settled.runs[0]?.kind, 'followUp');
    const request =
      server.requests.find((one) => one.rawBody.includes('And now more')) ??
      assert.fail('no request carries the message');
    const later = request.body['messages'];
    assert.ok(Array.isArray(before) && Array.isArray(later));
    const bare = (messages: unknown[]): string[] =>
      messages.map((message) => JSON.stringify(message).replace(/,"cache_control":\{[^}]*\}/g, ''));
    assert.deepEqual(bare(later).slice(0, before.length), bare(before));
  });

  it('another process follows the board: it hears of the Task and can stop its Run', async () => {
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    server.script(() => {
      isAsked();
      return new Promise<Reply>(() => undefined);
    });
    const [owner, other] = [await open(), await open()];
    const following = other.tasks.follow();
    const heard = new Promise<Task>((resolve) => {
      other.tasks.onDidChangeTask(({ task }) => {
        if (task.runs[0]?.status.state === 'running') resolve(task);
      });
    });
    const { task, settled } = await owner.tasks.start({
      packet: await owner.tasks.prepare({ objective: 'Wait' }),
    });
    await asked;
    assert.equal((await heard).id, task.id);
    const outcome = await other.tasks.stop({ taskId: task.id });
    assert.deepEqual([outcome.stillRunning, outcome.stopped.length], [[], 1]);
    assert.equal((await settled).runs[0]?.status.state, 'stopped');
    following.dispose();
  });

  it('the Verdict that counts is the newest, and a Task without one has none', async () => {
    server.script(cast({ general: [write('new.txt', 'new\n'), answer('done')] }));
    const { task } = await run(await open(), { objective: 'Add a file' }, { verify: 'never' });
    assert.equal(currentVerdict(task), undefined);
  });

  it('acceptance tests are run by the host on the recorded tree also without a verifier, and a failing one makes FAIL', async () => {
    server.script(cast({ general: [write('new.txt', 'new\n'), answer('done')] }));
    const core = await open();
    const passing = await run(
      core,
      { objective: 'Add a file', checks: ['test -f new.txt'] },
      { verify: 'never' },
    );
    assert.deepEqual([passing.verdict?.verdict, passing.verdict?.checks[0]?.evidence], ['PASS', 'host']);
    const failing = await run(
      core,
      { objective: 'Add a file again', checks: ['test -f other.txt && echo x > left.txt'] },
      { verify: 'never' },
    );
    assert.equal(failing.verdict?.verdict, 'FAIL');
    assert.equal(failing.verdict?.tree, failing.task.snapshot?.tree);
  });

  it('a Run is told its project’s documents from the base commit', async () => {
    await repo.write('AGENTS.md', 'Use spaces, not committed.\n');
    server.script(cast({ general: [answer('nothing')] }));
    await run(await open(), { objective: 'Look' });
    assert.match(server.requests[0]?.rawBody ?? '', /Use tabs\./);
    assert.doesNotMatch(server.requests[0]?.rawBody ?? '', /not committed/);
  });

  it('a PASS is not shown for a tree it was not made on: an edit after it makes it stale, also once landed', async () => {
    const own = 'test -f new.txt && test ! -s other.txt';
    server.script(
      cast({
        general: [write('new.txt', 'new\n'), answer('done')],
        verification: [
          bash(own),
          use('ReportCheck', {
            title: 'there',
            command: own,
            call: 1,
            exitCode: 0,
            observed: '',
            result: 'pass',
          }),
          verdictAnswer('PASS'),
        ],
      }),
    );
    const core = await open();
    const { task, verdict } = await run(core, { objective: 'Add a file' }, { verify: 'always' });
    assert.equal(verdict?.verdict, 'PASS', verdict?.reasons.join('; '));
    assert.equal(verdictOn(task)?.isCurrent, true);
    await writeFile(join(worktreeOf(task), 'late.txt'), 'slipped in\n');
    const plan = await core.tasks.preview(task.id);
    assert.equal(verdictOn(plan.task, plan.tree)?.isCurrent, false);
    const accepted = await core.tasks.accept(task.id);
    assert.equal(verdictOn(accepted.task)?.isCurrent, false);
  });

  it('an acceptance lands what was shown and nothing else: what changed since, in the Worktree or the checkout, makes it stale', async () => {
    server.script(cast({ general: [write('new.txt', 'new\n'), answer('done')] }));
    const core = await open();
    const { task } = await run(core, { objective: 'Add a file' }, { verify: 'never' });
    const shown = await core.tasks.preview(task.id);
    await writeFile(join(worktreeOf(task), 'late.txt'), 'slipped in\n');
    const late = await core.tasks.accept(task.id, { expected: shown });
    assert.ok(late.kind === 'stale');
    assert.deepEqual(late.paths, ['late.txt']);
    const again = await core.tasks.preview(task.id);
    await repo.write('new.txt', 'new\n');
    const there = await core.tasks.accept(task.id, { expected: again });
    assert.ok(there.kind === 'stale');
    assert.deepEqual(there.paths, ['new.txt']);
    assert.equal((await core.tasks.find(task.id)).task.state, 'open');
    assert.equal((await repo.git('status', '--porcelain')).trim(), '?? new.txt');
    // What is on no path of it changes nothing of what was shown.
    const last = await core.tasks.preview(task.id);
    await repo.write('b.txt', 'meanwhile\n');
    assert.equal((await core.tasks.accept(task.id, { expected: last })).kind, 'landed');
    assert.equal(await repo.read('late.txt'), 'slipped in\n');
    assert.equal(await repo.read('b.txt'), 'meanwhile\n');
  });

  it('an acceptance that has landed is accepted and undoable, also when the Worktree cannot be taken away', async () => {
    server.script(cast({ general: [write('new.txt', 'new\n'), answer('done')] }));
    const core = await open();
    const { task } = await run(core, { objective: 'Add a file' }, { verify: 'never' });
    // From here on the folder is no worktree of this repository any more.
    await repo.git('worktree', 'unlock', worktreeOf(task)).catch(() => undefined);
    const swapped = join(worktreeOf(task), '.git');
    const pointer = await readFile(swapped, 'utf8');
    const preview = await core.tasks.preview(task.id);
    assert.deepEqual(
      preview.paths.map((one) => one.path),
      ['new.txt'],
    );
    await writeFile(swapped, 'gitdir: /nowhere/else\n');
    const accepted = await core.tasks.accept(task.id);
    assert.equal(accepted.kind, 'landed');
    assert.equal((await core.tasks.find(task.id)).task.state, 'accepted');
    assert.equal(await repo.read('new.txt'), 'new\n');
    await writeFile(swapped, pointer);
    assert.equal((await core.tasks.undo(task.id)).kind, 'undone');
    assert.equal((await repo.git('status', '--porcelain')).trim(), '');
  });

  it('a scope that leaves the repository is refused before anything is made', async () => {
    const core = await open();
    await assert.rejects(core.tasks.prepare({ objective: 'Look', scope: ['../**'] }), {
      code: 'badArguments',
    });
    assert.deepEqual((await core.tasks.list()).tasks, []);
  });

  it('a Run id that nobody has is an error that says so', async () => {
    const core = await open();
    await assert.rejects(core.tasks.find('run_nothing'), { code: 'unknownId' });
  });
});
