import assert from 'node:assert/strict';
import { TributaryError } from '../../../src/base/errors';
import type { FileChange } from '../../../src/model/changes';
import type { LandingPath } from '../../../src/model/landing';
import type { Task } from '../../../src/model/task';
import type { Verdict } from '../../../src/model/verdict';
import type { Script } from '../../fakes/fakeTaskService';
import { at, end, makeRun, makeTask, runIds } from '../../fakes/records';
import { FakeHost } from './support/fakeHost';
import { assertGolden } from './support/golden';
import { failedVerdict, settled, storyTask, Teller, tellVerification } from './support/story';

function hostFinding(task: Task, script: Script = {}): FakeHost {
  return new FakeHost({ find: () => Promise.resolve({ task }), ...script });
}

const files: FileChange[] = [
  file({ path: 'src/parse.ts', status: 'modified', added: 3, removed: 1 }),
  file({ path: 'new\u001b[31m.ts', oldPath: 'old.ts', status: 'renamed' }),
  file({ path: 'logo.png', status: 'added', isBinary: true }),
];

function file(parts: Partial<FileChange> & Pick<FileChange, 'path' | 'status'>): FileChange {
  const oid = 'd'.repeat(40);
  return {
    oldMode: '100644',
    newMode: '100644',
    oldBlob: oid,
    newBlob: oid,
    isBinary: false,
    added: 0,
    removed: 0,
    ...parts,
  };
}

const blob = { mode: '100644', blob: 'd'.repeat(40) };
const paths: LandingPath[] = [
  { path: 'src/parse.ts', before: blob, after: blob },
  { path: 'new.ts', before: 'absent', after: blob },
  { path: 'old.ts', before: blob, after: 'absent' },
];
const conflicts = [{ path: 'src/parse.ts', kind: 'content', message: 'both changed it' }];

describe('list', () => {
  it('shows a table, newest first, and problems on stderr', async () => {
    const host = new FakeHost({
      list: () =>
        Promise.resolve({
          tasks: [
            makeTask({ slug: 'older', createdAt: '2024-04-30T12:00:00.000Z' }),
            { ...storyTask, createdAt: at },
          ],
          problems: [{ path: '/x/task.json', code: 'corruptFile', message: 'kept as task.json.corrupt' }],
        }),
    });
    assert.equal(await host.run('list'), 0);
    await assertGolden('cli/list.txt', host.stdout);
    assert.equal(host.stderr, '/x/task.json: kept as task.json.corrupt\n');
  });

  it('says how to start when there is nothing', async () => {
    const host = new FakeHost({ list: () => Promise.resolve({ tasks: [], problems: [] }) });
    assert.equal(await host.run('list'), 0);
    assert.match(host.stdout, /^No Tasks yet\. Start one: tributary run/);
  });

  it('needs no key', async () => {
    const host = new FakeHost({ list: () => Promise.resolve({ tasks: [], problems: [] }) });
    host.env = {};
    assert.equal(await host.run('list'), 0);
  });

  it('--json prints the result only', async () => {
    const host = new FakeHost({ list: () => Promise.resolve({ tasks: [storyTask], problems: [] }) });
    await host.run('list', '--json');
    const [result, ...more] = host.lines();
    assert.deepEqual(more, []);
    assert.equal(result?.['ok'], true);
    assert.deepEqual(JSON.parse(JSON.stringify(result?.['data'])).tasks[0].verdict, 'FAIL');
  });
});

describe('show', () => {
  it('shows states, base, path, verdict, files and the next commands', async () => {
    const host = hostFinding(storyTask, { changes: () => Promise.resolve(files) });
    assert.equal(await host.run('show', 'fix-the-parser'), 0);
    await assertGolden('cli/show.txt', host.stdout);
  });

  it('shows a Run with its usage and end', async () => {
    const run = makeRun({
      status: { state: 'failed', end: { reason: 'stalled', message: 'no event for 120 s', at } },
    });
    const task = makeTask({ runs: [run] });
    const host = new FakeHost({
      find: () => Promise.resolve({ task, run }),
      changes: () => Promise.resolve([]),
    });
    assert.equal(await host.run('show', run.id), 0);
    assert.match(host.stdout, /failed \(stalled\)/);
    assert.match(host.stdout, /0 requests, 0 tokens in, 0 out\n {2}ended .*: no event for 120 s/);
    assert.match(host.stdout, /tributary resume do-it/);
  });

  it('shows the rest when the files cannot be found out', async () => {
    const host = hostFinding(storyTask, {
      changes: () => Promise.reject(new TributaryError('worktreeMissing', '/x is gone')),
    });
    assert.equal(await host.run('show', 'fix-the-parser'), 0);
    assert.match(host.stdout, /VERDICT: FAIL/);
    assert.match(host.stderr, /\/x is gone/);
  });

  for (const [title, parts, expected] of [
    ['an accepted Task', { state: 'accepted' }, ['undo']],
    ['a discarded Task', { state: 'discarded' }, ['restore']],
    ['a closed Task', { state: 'closed' }, ['restore']],
    ['a running Task', { runs: [makeRun()] }, ['stop']],
    ['an open Task without changes', {}, ['discard']],
  ] as const)
    it(`offers what can be done with ${title}`, async () => {
      const task = makeTask({ ...parts, runs: 'runs' in parts ? [...parts.runs] : [] });
      const host = hostFinding(task, { changes: () => Promise.resolve([]) });
      await host.run('show', 'do-it', '--json');
      const data: { next?: string[] } = JSON.parse(JSON.stringify(host.lines().at(-1)?.['data']));
      assert.deepEqual(
        data.next,
        expected.map((verb) => `tributary ${verb} do-it`),
      );
    });
});

describe('diff', () => {
  it('prints the patch byte for byte', async () => {
    const patch = Buffer.from([0x64, 0xff, 0x00, 0x0d, 0x0a, 0x1b, 0xc3]);
    const host = hostFinding(storyTask, { patch: () => Promise.resolve(patch) });
    assert.equal(await host.run('diff', 'fix-the-parser'), 0);
    assert.deepEqual(host.stdoutBytes, patch);
  });

  it('--json prints the FileChanges', async () => {
    const host = hostFinding(storyTask, { changes: () => Promise.resolve(files) });
    await host.run('diff', 'fix-the-parser', '--json');
    assert.deepEqual(host.lines().at(-1)?.['data'], { files });
  });
});

describe('verify', () => {
  const verifying = (verdict: Verdict): FakeHost => {
    const host: FakeHost = hostFinding(storyTask, {
      verify: () => {
        tellVerification(new Teller(host.fake));
        return Promise.resolve({
          task: storyTask,
          settled: Promise.resolve({ ...settled, verdict }),
        });
      },
    });
    return host;
  };

  it('prints a line per Check, a line per Finding, then the verdict and the tree hash', async () => {
    const host = verifying(failedVerdict);
    assert.equal(await host.run('verify', 'fix-the-parser'), 1);
    assert.deepEqual(host.stdout.split('\n').slice(2), [
      'pass: npm test (exit 0) # run by the host',
      'fail: node -e "parse(\'\')" (exit 1) # empty input',
      'skip: node stress.js (no exit code) [claimed, not observed] # many threads',
      'src/parse.ts:12 error Empty input throws',
      'warning claimed, not observed',
      'note: A check failed.',
      'VERDICT: FAIL',
      `tree ${failedVerdict.tree}`,
      '',
    ]);
  });

  for (const [word, exitCode] of [
    ['PASS', 0],
    ['FAIL', 1],
    ['PARTIAL', 1],
    ['none', 1],
  ] as const)
    it(`exits with ${exitCode} for ${word}`, async () => {
      const host = verifying({ ...failedVerdict, verdict: word });
      assert.equal(await host.run('verify', 'fix-the-parser'), exitCode);
      assert.match(host.stdout, new RegExp(`^VERDICT: ${word}$`, 'm'));
    });

  it('says that there is no such Task before it asks for a key', async () => {
    const host = new FakeHost({
      find: () => Promise.reject(new TributaryError('unknownId', 'nothing is called x')),
    });
    host.env = {};
    assert.equal(await host.run('verify', 'x'), 2);
    assert.match(host.stderr, /unknownId.*Nothing is called x/);
  });

  it('says when the state of the Task forbids it', async () => {
    const host = hostFinding(storyTask, {
      verify: () => Promise.reject(new TributaryError('wrongState', 'nothing differs from the base')),
    });
    assert.equal(await host.run('verify', 'fix-the-parser'), 1);
    assert.match(host.stderr, /Nothing differs from the base\n {2}"tributary show fix-the-parser"/);
  });
});

describe('fix', () => {
  it('says so, and exits with 0, when there is no open finding; no key is needed', async () => {
    const task = makeTask();
    const host = hostFinding(task, { fix: () => Promise.resolve({ kind: 'nothing', task }) });
    host.env = {};
    assert.equal(await host.run('fix', 'do-it'), 0);
    assert.equal(host.stdout, 'There is no open finding on do-it; nothing to fix.\n');
  });

  it('prints what the verification after it came to', async () => {
    const verdict: Verdict = { ...failedVerdict, verdict: 'PASS', findings: [], reasons: [] };
    const host = hostFinding(storyTask, {
      fix: () =>
        Promise.resolve({
          kind: 'started',
          task: storyTask,
          settled: Promise.resolve({ ...settled, verdict }),
        }),
    });
    assert.equal(await host.run('fix', 'fix-the-parser'), 0);
    assert.match(host.stdout, /^VERDICT: PASS\ntree b{40}\n$/m);
  });

  it('asks for a key before a fix Run is made', async () => {
    const host = hostFinding(storyTask);
    host.env = {};
    assert.equal(await host.run('fix', 'fix-the-parser'), 1);
    assert.match(host.stderr, /noCredentials/);
    assert.ok(!host.fake.calls.some(([method]) => method === 'fix'));
  });
});

describe('accept', () => {
  const landed = { ...storyTask, state: 'accepted' as const };
  const accepting = (script: Script = {}): FakeHost =>
    hostFinding(storyTask, {
      preview: () => Promise.resolve({ task: storyTask, paths, conflicts: [] }),
      accept: () => Promise.resolve({ kind: 'landed', task: landed, paths: paths.map(({ path }) => path) }),
      ...script,
    });

  it('prints the preview and the verdict, lands, and says how to take it back', async () => {
    const host = accepting();
    assert.equal(await host.run('accept', 'fix-the-parser'), 0);
    assert.equal(
      host.stdout,
      [
        'fix-the-parser (VERDICT: FAIL, 2 findings) would write:',
        '  M src/parse.ts',
        '  A new.ts',
        '  D old.ts',
        'Accepted fix-the-parser: 3 paths written.',
        'Take it back with: tributary undo fix-the-parser',
        '',
      ].join('\n'),
    );
  });

  it('--dry-run writes nothing', async () => {
    const host = accepting();
    assert.equal(await host.run('accept', 'fix-the-parser', '--dry-run'), 0);
    assert.match(host.stdout, /Nothing was written \(--dry-run\)\.\n$/);
    assert.ok(!host.fake.calls.some(([method]) => method === 'accept'));
  });

  for (const flags of [[], ['--dry-run']])
    it(`shows a conflict by file and writes nothing ${flags.join(' ')}`.trim(), async () => {
      const host = accepting({ preview: () => Promise.resolve({ task: storyTask, paths, conflicts }) });
      assert.equal(await host.run('accept', 'fix-the-parser', ...flags), 3);
      assert.match(
        host.stderr,
        /error \(conflict\): .*nothing was written: src\/parse\.ts: both sides changed the same lines\n/,
      );
      assert.doesNotMatch(host.stdout, /conflict/i);
      assert.ok(!host.fake.calls.some(([method]) => method === 'accept'));
    });

  it('says which files changed since they were looked at', async () => {
    const host = accepting({
      accept: () => Promise.resolve({ kind: 'stale', task: storyTask, paths: ['src/parse.ts'] }),
    });
    assert.equal(await host.run('accept', 'fix-the-parser'), 3);
    assert.match(host.stderr, /error \(stale\): .*src\/parse\.ts/);
  });

  it('--json prints the outcome, with an error line before it where it failed', async () => {
    const good = accepting();
    await good.run('accept', 'fix-the-parser', '--json');
    assert.deepEqual(
      good.lines().map(({ type }) => type),
      ['result'],
    );
    const bad = accepting({
      accept: () => Promise.resolve({ kind: 'conflict', task: storyTask, conflicts }),
    });
    assert.equal(await bad.run('accept', 'fix-the-parser', '--json'), 3);
    assert.deepEqual(
      bad.lines().map(({ type }) => type),
      ['error', 'result'],
    );
    assert.equal(bad.lines().at(-1)?.['ok'], false);
  });
});

describe('undo, discard, restore', () => {
  it('undo says what is back', async () => {
    const host = hostFinding(
      { ...storyTask, state: 'accepted' },
      {
        undo: () => Promise.resolve({ kind: 'undone', task: storyTask, paths: ['src/parse.ts'] }),
      },
    );
    assert.equal(await host.run('undo', 'fix-the-parser'), 0);
    assert.equal(
      host.stdout,
      'Undone fix-the-parser: 1 path is as before. Its worktree is back: /repo.worktrees/fix-the-parser\n',
    );
  });

  it('undo names the files that were edited since, and exits with 3', async () => {
    const host = hostFinding(storyTask, {
      undo: () => Promise.resolve({ kind: 'stale', task: storyTask, paths: ['src/parse.ts'] }),
    });
    assert.equal(await host.run('undo', 'fix-the-parser'), 3);
    assert.match(
      host.stderr,
      /edited since they were accepted: src\/parse\.ts\n {2}Put your later edits aside/,
    );
  });

  it('discard says how to bring it back', async () => {
    const host = hostFinding(storyTask, { discard: () => Promise.resolve(storyTask) });
    assert.equal(await host.run('discard', 'fix-the-parser'), 0);
    assert.match(host.stdout, /tributary restore fix-the-parser\n$/);
  });

  it('restore says where it is', async () => {
    const host = hostFinding(storyTask, { restore: () => Promise.resolve(storyTask) });
    assert.equal(await host.run('restore', 'fix-the-parser'), 0);
    assert.equal(host.stdout, 'Restored fix-the-parser in /repo.worktrees/fix-the-parser\n');
  });
});

describe('stop', () => {
  const [first, second] = runIds(2);
  const stopping = (stopped: typeof first, stillRunning: typeof first): FakeHost =>
    hostFinding(storyTask, {
      stop: () =>
        Promise.resolve({
          stopped: stopped === undefined ? [] : [stopped],
          stillRunning: stillRunning === undefined ? [] : [stillRunning],
        }),
    });

  it('waits 5 s and says what it stopped', async () => {
    const host = stopping(first, undefined);
    assert.equal(await host.run('stop', 'fix-the-parser'), 0);
    assert.equal(host.stdout, `Stopped ${first}; the work is kept.\n`);
    assert.deepEqual(host.fake.calls.at(-1), ['stop', { taskId: storyTask.id }, { waitMs: 5_000 }]);
  });

  it('says what still runs then, and exits with 1', async () => {
    const host = stopping(first, second);
    assert.equal(await host.run('stop', 'fix-the-parser'), 1);
    assert.match(host.stdout, new RegExp(`Still running after 5 s: ${second}\n$`));
  });

  it('says when nothing was running', async () => {
    const host = stopping(undefined, undefined);
    assert.equal(await host.run('stop', 'fix-the-parser'), 0);
    assert.equal(host.stdout, 'Nothing of fix-the-parser was running.\n');
  });

  it('stops one Run when a Run is named', async () => {
    const run = makeRun({ status: { state: 'completed', startedAt: at, end } });
    const host = new FakeHost({
      find: () => Promise.resolve({ task: storyTask, run }),
      stop: () => Promise.resolve({ stopped: [run.id], stillRunning: [] }),
    });
    await host.run('stop', run.id);
    assert.deepEqual(host.fake.calls.at(-1), [
      'stop',
      { taskId: storyTask.id, runId: run.id },
      { waitMs: 5_000 },
    ]);
  });
});
