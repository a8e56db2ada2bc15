import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cleanUp, fingerprint, makeFolder, makeRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { cliPath, endClis, runCli, startCli } from './support/cli';
import { fiveTurns, makeProject, modelEnv, runJob } from './support/job';

describe('the built command line', () => {
  afterEach(endClis);
  after(cleanUp);

  it('answers --help, help VERB and --version', async () => {
    const cwd = await makeFolder();
    const help = await runCli(['--help'], { cwd });
    assert.equal(help.exitCode, 0);
    assert.match(help.stdout.toString(), /^ {2}run "<objective>" /m);
    const verb = await runCli(['help', 'accept'], { cwd });
    assert.match(verb.stdout.toString(), /Usage: tributary accept TASK .*\[--dry-run\]/);
    const version = await runCli(['--version'], { cwd });
    assert.match(version.stdout.toString(), /^\d+\.\d+\.\d+\n$/);
  });

  it('needs no git for help', async () => {
    const end = await runCli(['--help'], { cwd: await makeFolder(), env: { PATH: '/nonexistent' } });
    assert.equal(end.exitCode, 0);
  });

  it('exits with 2 for wrong arguments and names the near match', async () => {
    const end = await runCli(['run', 'x', '--alow-commands'], { cwd: await makeFolder() });
    assert.equal(end.exitCode, 2);
    assert.equal(end.stdout.length, 0);
    assert.match(end.stderr, /unknown flag --alow-commands.*\n {2}Did you mean --allow-commands\?/);
  });

  it('lists an empty board', async () => {
    const { root } = await makeRepo();
    const end = await runCli(['list'], { cwd: root });
    assert.equal(end.stderr, '');
    assert.equal(end.exitCode, 0);
    assert.match(end.stdout.toString(), /^No Tasks yet/);
  });

  it('reading verbs leave nothing in the repository but our own folder', async () => {
    const { root } = await makeRepo({ files: { a: '1' } });
    const before = await fingerprint(root);
    await runCli(['list'], { cwd: root });
    await runCli(['show', 'nothing'], { cwd: root });
    assert.deepEqual(await fingerprint(root), before);
  });

  it('survives a reader that goes away', async () => {
    const { root } = await makeRepo();
    const child = spawn(process.execPath, [cliPath, 'list', '--json'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    await new Promise((resolve) => child.once('close', resolve));
    assert.equal(stderr, '');
  });
});

describe('what is wrong is said plainly, with its exit code', () => {
  let server: StrictServer;
  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(fiveTurns);
  });
  afterEach(async () => {
    await endClis();
    await server.close();
  });
  after(cleanUp);

  it('a folder that is no repository: 2', async () => {
    const end = await runCli(['list'], { cwd: await makeFolder() });
    assert.equal(end.exitCode, 2);
    assert.match(end.stderr, /^error \(notARepository\): .* is not in a git repository/);
    assert.match(end.stderr, /--repo DIR/);
  });

  it('an unknown Task: 2', async () => {
    const { root } = await makeRepo();
    const end = await runCli(['show', 'nothing', '--json'], { cwd: root });
    assert.equal(end.exitCode, 2);
    assert.deepEqual(
      end.lines.map(({ type, code }) => code ?? type),
      ['unknownId', 'result'],
    );
  });

  it('an unknown agent and an unknown base: 2, and no Task is made', async () => {
    const { root } = await makeRepo();
    const env = modelEnv(server);
    const agent = await runCli(['run', 'x', '--agent', 'nobody'], { cwd: root, env });
    assert.match(agent.stderr, /error \(unknownAgent\)/);
    assert.equal(agent.exitCode, 2);
    const base = await runCli(['run', 'x', '--base', 'nowhere'], { cwd: root, env });
    assert.match(base.stderr, /error \(unknownBase\)/);
    assert.equal(base.exitCode, 2);
    const list = await runCli(['list', '--json'], { cwd: root });
    assert.deepEqual(list.data['tasks'], []);
  });

  it('an unborn branch: 3, with the command that helps', async () => {
    const { root } = await makeRepo({ unborn: true });
    const end = await runCli(['run', 'x'], { cwd: root, env: modelEnv(server) });
    assert.equal(end.exitCode, 3);
    assert.match(end.stderr, /error \(unbornBranch\).*\n {2}.*git commit --allow-empty/);
  });

  it('no key: 1, nothing made, no request sent', async () => {
    const { root } = await makeRepo();
    const env = { ANTHROPIC_BASE_URL: server.url };
    const end = await runCli(['run', 'x'], { cwd: root, env });
    assert.equal(end.exitCode, 1);
    assert.match(end.stderr, /error \(noCredentials\).*\n {2}Set ANTHROPIC_API_KEY.*--demo/);
    assert.equal(server.requests.length, 0);
    assert.deepEqual((await runCli(['list', '--json'], { cwd: root })).data['tasks'], []);
  });

  it('a wrong key: 1, at once', async () => {
    const { root } = await makeProject();
    const env = { ...modelEnv(server), ANTHROPIC_API_KEY: 'not-it' };
    const end = await runCli(['run', 'x', '--no-verify'], { cwd: root, env });
    assert.equal(end.exitCode, 1);
    assert.match(end.stderr, /error \(wrongKey\): The model server does not accept the key/);
    assert.equal(server.requests.length, 1);
    assert.ok(!end.stderr.includes('not-it') && !end.stdout.toString().includes('not-it'));
  });

  it('git that is not there: 1', async () => {
    const { root } = await makeRepo();
    const end = await runCli(['list'], { cwd: root, env: { PATH: await makeFolder() } });
    assert.equal(end.exitCode, 1);
    assert.match(end.stderr, /^error \(gitMissing\): No git was found/);
    assert.match(end.stderr, /Install git 2\.38 or newer/);
  });

  it('git that is too old: 1, naming its version', async () => {
    const { root } = await makeRepo();
    const bin = await makeFolder();
    await writeFile(join(bin, 'git'), '#!/bin/sh\necho "git version 2.30.2"\n');
    await chmod(join(bin, 'git'), 0o755);
    const PATH = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
    const end = await runCli(['list'], { cwd: root, env: { PATH } });
    assert.equal(end.exitCode, 1);
    assert.match(end.stderr, /^error \(gitTooOld\): This git is too old.*2\.30/);
  });

  it('a branch in use when a Task is restored: 3, naming the branch', async () => {
    const repo = await makeProject();
    const end = await runJob(server, repo);
    assert.equal(end.exitCode, 0, end.stderr);
    await runCli(['discard', 'say-good-day'], { cwd: repo.root });
    await repo.git('branch', '--force', 'tributary/say-good-day', 'HEAD');
    await repo.git('switch', '--quiet', 'tributary/say-good-day');
    const restore = await runCli(['restore', 'say-good-day'], { cwd: repo.root });
    assert.equal(restore.exitCode, 3, restore.stderr);
    assert.match(restore.stderr, /error \(branchInUse\).*tributary\/say-good-day/);
  });

  it('--repo names the repository from anywhere, links and blanks included', async () => {
    const { root } = await makeRepo({ name: 'a b' });
    const elsewhere = await makeFolder();
    await symlink(root, join(elsewhere, 'link'));
    await mkdir(join(root, 'sub'));
    for (const repo of [root, join(root, 'sub'), join(elsewhere, 'link'), 'link'])
      assert.equal((await runCli(['list', '--repo', repo], { cwd: elsewhere })).exitCode, 0, repo);
  });
});

describe('a server in trouble', () => {
  afterEach(async () => {
    await endClis();
    await cleanUp();
  });

  it('that cannot be reached: 1, saying what to check and how to go on', async () => {
    const gone = await startStrictServer();
    await gone.close();
    const { root } = await makeProject();
    const end = await runCli(['run', 'x', '--no-verify'], { cwd: root, env: modelEnv(gone) });
    assert.equal(end.exitCode, 1);
    assert.match(end.stderr, /error \(unreachable\): The model server could not be reached/);
    assert.match(end.stderr, /ANTHROPIC_BASE_URL, then "tributary resume x"/);
  });

  it('that is overloaded is asked again, visibly, and a Ctrl-C in the wait stops at once: 130', async () => {
    const server = await startStrictServer({ apiKey: 'test-key' });
    server.script([{ status: 529, type: 'overloaded_error', headers: { 'retry-after': '50' } }]);
    try {
      const { root } = await makeProject();
      const run = startCli(['run', 'x', '--no-verify', '--json'], { cwd: root, env: modelEnv(server) });
      const retry = await run.waitFor((line) => JSON.stringify(line).includes('"type":"retry"'));
      assert.match(JSON.stringify(retry), /"code":"overloaded".*"waitMs":50000/);
      run.kill('SIGINT');
      assert.equal((await run.ended).exitCode, 130);
      assert.equal(server.requests.length, 1);
    } finally {
      await server.close();
    }
  });
});
