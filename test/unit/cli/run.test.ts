import assert from 'node:assert/strict';
import { TributaryError } from '../../../src/base/errors';
import { boardEventSchema } from '../../../src/model/events';
import { makeTaskId } from '../../../src/model/ids';
import type { Run, RunState } from '../../../src/model/run';
import type { Verdict } from '../../../src/model/verdict';
import type { Script } from '../../fakes/fakeTaskService';
import { at, end, makeRun, makeTask } from '../../fakes/records';
import { FakeHost } from './support/fakeHost';
import { assertGolden } from './support/golden';
import {
  failedVerdict,
  settled,
  storyTask,
  Teller,
  tellBeginning,
  tellVerification,
  tellWork,
} from './support/story';

/** A `run` that tells the whole story. */
function storyHost(extra: Script = {}): FakeHost {
  const host: FakeHost = new FakeHost({
    prepare: () => Promise.resolve(storyTask.packet),
    start: () => {
      const tell = new Teller(host.fake);
      // Before `start` answers: the first events of a Task come before its id is known.
      tellBeginning(tell);
      return Promise.resolve({
        task: storyTask,
        settled: Promise.resolve().then(() => {
          tellWork(tell);
          tellVerification(tell);
          return settled;
        }),
      });
    },
    ...extra,
  });
  return host;
}

describe('run --json', () => {
  it('prints the whole story as one JSON object a line, the result last', async () => {
    const host = storyHost();
    assert.equal(await host.run('run', 'Fix the parser', '--json'), 1);
    await assertGolden('cli/run.jsonl', host.stdout);
    assert.equal(host.stderr, '');
  });

  it('gives every line v, at and type, and every event of a Task its taskId', async () => {
    const host = storyHost();
    await host.run('run', 'Fix the parser', '--json');
    const lines = host.lines();
    for (const line of lines) {
      assert.equal(line['v'], 1);
      assert.match(String(line['at']), /^\d{4}-\d\d-\d\dT/);
      assert.equal(typeof line['type'], 'string');
      if (line['type'] !== 'result') assert.equal(line['taskId'], storyTask.id);
    }
    assert.deepEqual(lines.map(({ type }) => type).filter((type) => type === 'result').length, 1);
    assert.equal(lines.at(-1)?.['type'], 'result');
  });

  it('prints events of the board as the schema says', async () => {
    const host = storyHost();
    await host.run('run', 'Fix the parser', '--json');
    const own = ['entry', 'text.delta', 'question', 'error', 'result'];
    for (const line of host.lines().filter(({ type }) => !own.includes(String(type))))
      boardEventSchema.parse(line);
  });

  it('leaves out what happens to other Tasks', async () => {
    const other = makeTask({ id: makeTaskId(new Date(at), 9) });
    const host: FakeHost = storyHost({
      start: () => {
        const tell = new Teller(host.fake);
        tell.event({ type: 'task.changed', state: 'open' }, other);
        tellBeginning(tell);
        tell.event({ type: 'task.changed', state: 'closed' }, other);
        return Promise.resolve({ task: storyTask, settled: Promise.resolve(settled) });
      },
    });
    await host.run('run', 'Fix the parser', '--json');
    assert.ok(host.lines().every(({ taskId }) => taskId !== other.id));
    assert.ok(host.lines().some(({ type }) => type === 'task.created'));
  });

  it('ends with error and result when the call fails', async () => {
    const host = new FakeHost({
      prepare: () => Promise.reject(new TributaryError('unknownBase', 'there is no "mian"')),
    });
    assert.equal(await host.run('run', 'x', '--base', 'mian', '--json'), 2);
    const [error, result] = host.lines();
    assert.equal(error?.['type'], 'error');
    assert.equal(error?.['code'], 'unknownBase');
    assert.match(String(error?.['message']), /there is no "mian"/);
    assert.match(String(error?.['hint']), /git rev-parse/);
    assert.deepEqual(
      { ...result, at: '' },
      { v: 1, at: '', type: 'result', ok: false, exitCode: 2, data: null },
    );
  });

  it('says wrong arguments in JSON too', async () => {
    const host = new FakeHost();
    assert.equal(await host.run('run', '--json'), 2);
    assert.deepEqual(
      host.lines().map(({ type, code, exitCode }) => [type, code ?? exitCode]),
      [
        ['error', 'badArguments'],
        ['result', 2],
      ],
    );
  });
});

describe('run for people', () => {
  it('shows rows of what goes on, the verdict, and what can be done next', async () => {
    const host = storyHost();
    assert.equal(await host.run('run', 'Fix the parser'), 1);
    await assertGolden('cli/run.txt', host.stdout);
    assert.equal(host.stderr, '');
  });

  it('has colours on a terminal', async () => {
    const host = storyHost();
    host.isTerminal = true;
    await host.run('run', 'Fix the parser');
    await assertGolden('cli/runColoured.txt', host.stdout.replaceAll('\u001b', '<ESC>'));
  });

  it('has none where NO_COLOR is set', async () => {
    const host = storyHost();
    host.isTerminal = true;
    host.env['NO_COLOR'] = '1';
    await host.run('run', 'Fix the parser');
    assert.ok(!host.stdout.includes('\u001b'));
  });

  it('lets no escape sequence of model or tool through', async () => {
    const host = storyHost();
    await host.run('run', 'Fix the parser');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(host.stdout, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it('says on stderr what went wrong and what to do', async () => {
    const status: RunState = {
      state: 'failed',
      startedAt: at,
      end: { reason: 'wrongKey', message: '401 invalid x-api-key', at },
    };
    const host = runEnding([makeRun({ status })]);
    assert.equal(await host.run('run', 'x'), 1);
    assert.equal(
      host.stderr,
      'error (wrongKey): The model server does not accept the key: 401 invalid x-api-key\n  Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (if both are set, the token is used) and ANTHROPIC_BASE_URL.\n',
    );
  });

  it('says how to go on when it was stopped, also where a verdict was asked for', async () => {
    const status: RunState = { state: 'stopped', startedAt: at, end: { reason: 'user', message: '', at } };
    const host = runEnding([makeRun({ status })]);
    assert.equal(await host.run('run', 'x', '--verify'), 130);
    assert.equal(host.stdout, 'Next:\n  tributary resume do-it\n  tributary discard do-it\n');
    assert.equal(host.stderr, '');
  });

  it('says that nothing was changed when the Task closed by itself', async () => {
    const host = runEnding(
      [makeRun({ status: { state: 'completed', startedAt: at, end } })],
      undefined,
      'closed',
    );
    assert.equal(await host.run('run', 'x'), 0);
    assert.equal(host.stdout, 'Nothing was changed; the Task is closed.\n');
  });
});

/** A `run` that ends with these Runs and no story. */
function runEnding(runs: Run[], verdict?: Verdict, state: 'open' | 'closed' = 'open'): FakeHost {
  const task = makeTask({ runs, state });
  return new FakeHost({
    prepare: () => Promise.resolve(task.packet),
    start: () =>
      Promise.resolve({
        task,
        settled: Promise.resolve({ task, runs, ...(verdict === undefined ? {} : { verdict }) }),
      }),
  });
}

describe('the exit code of run', () => {
  const ended = (state: 'completed' | 'failed' | 'stopped' | 'interrupted', reason = 'done'): Run =>
    makeRun({ status: { state, startedAt: at, end: { reason, message: '', at } } });
  const verdict = (word: Verdict['verdict']): Verdict => ({ ...failedVerdict, verdict: word });
  const cases: readonly (readonly [string, Run, Verdict | undefined, readonly string[], number])[] = [
    ['0 when done and nothing was verified', ended('completed'), undefined, [], 0],
    [
      '1 when done without the verdict that --verify asks for',
      ended('completed'),
      undefined,
      ['--verify'],
      1,
    ],
    ['0 when PASS', ended('completed'), verdict('PASS'), [], 0],
    ['0 when PASS with --verify', ended('completed'), verdict('PASS'), ['--verify'], 0],
    ['1 when FAIL', ended('completed'), verdict('FAIL'), [], 1],
    ['1 when PARTIAL', ended('completed'), verdict('PARTIAL'), [], 1],
    ['1 when no verdict could be read', ended('completed'), verdict('none'), [], 1],
    ['1 when failed', ended('failed', 'unreachable'), undefined, [], 1],
    ['1 at a limit', ended('failed', 'limit'), undefined, [], 1],
    ['3 when the branch is in use', ended('failed', 'branchInUse'), undefined, [], 3],
    ['130 when stopped', ended('stopped', 'user'), undefined, [], 130],
    ['1 when interrupted', ended('interrupted', 'shutdown'), undefined, [], 1],
  ];
  for (const [title, run, made, flags, expected] of cases)
    it(`is ${title}`, async () => {
      assert.equal(await runEnding([run], made).run('run', 'x', ...flags), expected);
    });
});

describe('what run asks for', () => {
  it('is what the flags say', async () => {
    const host = storyHost();
    await host.run(
      ...['run', 'Fix it', '--repo', '/r', '--agent', 'explore', '--base', 'main', '--scope', 'src/**'],
      ...['--check', 'npm test', '--model', 'm', '--no-verify'],
    );
    assert.deepEqual(host.fake.calls.slice(0, 2), [
      ['prepare', { objective: 'Fix it', base: 'main', scope: ['src/**'], checks: ['npm test'] }],
      ['start', { packet: storyTask.packet, agent: 'explore', model: 'm', verify: 'never' }],
    ]);
    assert.equal(host.fake.ports?.directory, '/r');
  });

  it('leaves to the settings what no flag says', async () => {
    const host = storyHost();
    await host.run('run', 'Fix it');
    assert.deepEqual(host.fake.calls.slice(0, 2), [
      ['prepare', { objective: 'Fix it' }],
      ['start', { packet: storyTask.packet }],
    ]);
    assert.equal(host.fake.ports?.directory, '/somewhere');
  });

  it('says without a key what to do, before anything is made', async () => {
    const host = storyHost();
    host.env = { ANTHROPIC_API_KEY: ' ' };
    assert.equal(await host.run('run', 'Fix it'), 1);
    assert.match(
      host.stderr,
      /^error \(noCredentials\): There is no key for the model\.\n {2}Set ANTHROPIC_API_KEY/,
    );
    assert.match(host.stderr, /--demo/);
    assert.deepEqual(
      host.fake.calls.map(([method]) => method),
      ['prepare'],
    );
  });

  it('needs no key with --demo', async () => {
    const host = storyHost();
    host.env = {};
    assert.equal(await host.run('run', 'Fix it', '--demo'), 1);
    assert.equal(host.fake.ports?.settings().model.provider, 'demo');
    assert.ok(host.fake.calls.some(([method]) => method === 'start'));
  });

  it('takes model, base URL and credentials from the environment; the token wins', async () => {
    const host = storyHost();
    host.env = {
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_AUTH_TOKEN: 'token',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      ANTHROPIC_MODEL: 'm',
    };
    await host.run('run', 'Fix it');
    const { ports } = host.fake;
    assert.equal(ports?.settings().model.baseUrl, 'http://127.0.0.1:9');
    assert.equal(ports?.settings().model.main, 'm');
    assert.deepEqual(await ports?.credentials(), { kind: 'authToken', value: 'token' });
  });

  it('refuses a base URL that is none', async () => {
    const host = storyHost();
    host.env['ANTHROPIC_BASE_URL'] = 'gateway';
    assert.equal(await host.run('run', 'Fix it'), 2);
    assert.match(host.stderr, /ANTHROPIC_BASE_URL is not a URL: gateway/);
  });

  it('gives everything back at the end', async () => {
    const host = storyHost();
    await host.run('run', 'Fix it');
    assert.ok(host.fake.isDisposed);
    assert.equal(host.fake.listenerCount, 0);
    assert.equal(host.signalListeners, 0);
  });
});
