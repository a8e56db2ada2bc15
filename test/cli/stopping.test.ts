import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { cleanUp, type TempRepo } from '../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliRun, endClis, type JsonLine, runCli, startCli } from './support/cli';
import { byRole, byTurn, call, fiveTurns, makeProject, modelEnv, passingVerifier } from './support/job';

const slug = 'say-good-day';

describe('stopping', () => {
  let server: StrictServer;
  let repo: TempRepo;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeProject();
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  const start = (...more: string[]): CliRun =>
    startCli(['run', 'Say good day', '--no-verify', '--allow-commands', '--json', ...more], {
      cwd: repo.root,
      env: modelEnv(server),
    });

  const isEntry =
    (type: string, name?: string) =>
    (line: JsonLine): boolean => {
      const entry = line['entry'];
      if (typeof entry !== 'object' || entry === null || !('type' in entry)) return false;
      return entry.type === type && (name === undefined || ('name' in entry && entry.name === name));
    };

  /** Commands that the Run that went on started, the verifier's not counted. */
  const authorCommands = (lines: readonly JsonLine[]): number => {
    const resume = lines.find(({ type, kind }) => type === 'run.created' && kind === 'resume')?.['runId'];
    assert.ok(resume !== undefined);
    return lines.filter((line) => line['runId'] === resume && isEntry('tool.started', 'Bash')(line)).length;
  };

  /** Edits, then runs a command that takes longer than any test. */
  const endless = (announce = ''): Reply[] => [
    ...fiveTurns.slice(0, 3),
    // It ends by itself once nobody reads it any more: after a kill -9 of ours.
    call('Bash', { command: `node -e "${announce}setInterval(() => console.log('.'), 200)"` }),
  ];

  it('Ctrl-C: stopped by the user, 130, the work and the transcript kept, the command gone', async () => {
    const announced = await listenForPid();
    server.script(byTurn(endless(`fetch('${announced.url}' + process.pid); `)));
    const run = start();
    const pid = await Promise.race([
      announced.pid,
      run.ended.then(({ stderr }) => assert.fail(`ended too early: ${stderr}`)),
    ]);
    run.kill('SIGINT');
    const end = await run.ended;
    assert.equal(end.exitCode, 130, end.stderr);
    assert.match(end.stderr, /Stopping; the work is kept/);
    const ended = end.lines.find(({ type }) => type === 'run.ended');
    assert.equal(ended?.['state'], 'stopped');
    assert.equal(ended?.['reason'], 'user');
    assert.equal(end.lines.at(-1)?.['exitCode'], 130);
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    const worktree = join(`${repo.root}.worktrees`, slug);
    assert.match(await readFile(join(worktree, 'src', 'greet.js'), 'utf8'), /good day, /);
    const diff = await runCli(['diff', slug], { cwd: repo.root });
    assert.match(diff.stdout.toString(), /\+ {2}return 'good day, /);
  });

  it('SIGTERM: interrupted by shutdown, 1, and resume goes on to the end', async () => {
    server.script(byTurn(endless()));
    const run = start();
    await run.waitFor(isEntry('tool.started', 'Bash'));
    run.kill('SIGTERM');
    const end = await run.ended;
    assert.equal(end.exitCode, 1, end.stderr);
    const ended = end.lines.find(({ type }) => type === 'run.ended');
    assert.deepEqual([ended?.['state'], ended?.['reason']], ['interrupted', 'shutdown']);
    server.script(byRole([...endless(), ...fiveTurns.slice(4)], passingVerifier));
    const resumed = await runCli(['resume', slug, '--allow-commands', '--json'], {
      cwd: repo.root,
      env: modelEnv(server),
    });
    assert.equal(resumed.exitCode, 0, resumed.stderr);
    assert.deepEqual(server.refusals, []);
    assert.equal(authorCommands(resumed.lines), 0);
  });

  it('stop from another process ends the run there with 130', async () => {
    server.script(byTurn(endless()));
    const run = start();
    await run.waitFor(isEntry('tool.started', 'Bash'));
    const stop = await runCli(['stop', slug], { cwd: repo.root });
    assert.equal(stop.exitCode, 0, stop.stderr);
    assert.match(stop.stdout.toString(), /^Stopped run_/);
    assert.equal((await run.ended).exitCode, 130);
  });

  it('kill -9: the next command says interrupted, and resume goes on without a second start of the command', async () => {
    server.script(byTurn(endless()));
    const run = start();
    await run.waitFor(isEntry('tool.started', 'Bash'));
    run.kill('SIGKILL');
    await run.ended;
    const list = await runCli(['list'], { cwd: repo.root });
    assert.match(list.stdout.toString(), /^say-good-day +open +interrupted/m);
    server.script(byRole([...endless(), ...fiveTurns.slice(4)], passingVerifier));
    const resumed = await runCli(['resume', slug, '--allow-commands', '--json'], {
      cwd: repo.root,
      env: modelEnv(server),
    });
    assert.equal(resumed.exitCode, 0, resumed.stderr);
    assert.equal(authorCommands(resumed.lines), 0);
    assert.deepEqual(server.refusals, []);
  });
});

/** A server on the loopback interface that learns a process id from the path of the first request. */
async function listenForPid(): Promise<{ url: string; pid: Promise<number> }> {
  const http = createServer();
  const pid = new Promise<number>((resolve) => {
    http.once('request', (request, response) => {
      response.end(() => http.close());
      resolve(Number(request.url?.slice(1)));
    });
  });
  // A run that never asks must not keep the suite alive.
  http.listen(0, '127.0.0.1').unref();
  await once(http, 'listening');
  const address = http.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { url: `http://127.0.0.1:${address.port}/`, pid };
}

describe('consent on the command line', () => {
  let server: StrictServer;
  let repo: TempRepo;
  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(byTurn(fiveTurns));
    repo = await makeProject();
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  it('without --allow-commands and terminal a command is denied, and the model is told of the flag', async () => {
    const end = await runCli(['run', 'Say good day', '--no-verify', '--json'], {
      cwd: repo.root,
      env: modelEnv(server),
    });
    assert.equal(end.exitCode, 0, end.stderr);
    const question = end.lines.find(({ type }) => type === 'question');
    assert.equal(question?.['command'], 'node check.mjs');
    assert.match(server.requests.at(-1)?.rawBody ?? '', /--allow-commands/);
  });

  it('a command that --check names needs no consent', async () => {
    const end = await runCli(['run', 'Say good day', '--no-verify', '--json', '--check', 'node check.mjs'], {
      cwd: repo.root,
      env: modelEnv(server),
    });
    assert.equal(end.exitCode, 0, end.stderr);
    assert.ok(!end.lines.some(({ type }) => type === 'question'));
  });
});
