import assert from 'node:assert/strict';
import { readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, listing, repoAt } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, endClis, type JsonLine } from './support/cli';
import { type CrashSite, entry, makeCrashSite, runArguments, slug, userSide } from './support/crashSite';
import { byRole, byTurn, call, finalAnswer, passingVerifier } from './support/job';

/** Two calls: one that needs the set-up's file, one that changes something. */
const work = [
  call('Read', { file_path: 'src/greet.js' }, 'I read what the greeting says.'),
  call('Edit', { file_path: 'src/greet.js', old_string: 'hello, ', new_string: 'good day, ' }),
  { content: [{ type: 'text' as const, text: finalAnswer }] },
];

describe('the set-up of a worktree', () => {
  let server: StrictServer;
  let site: CrashSite;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    site = await makeCrashSite(server);
    server.script(byRole(work, passingVerifier));
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  const run = (...more: readonly string[]): Promise<CliEnd> => site.cli(...runArguments, ...more);
  const worktree = () => repoAt(site.repo.folder, site.worktree);
  const show = async (): Promise<string> => (await site.cli('show', slug)).stdout.toString('utf8');
  const isCommand =
    (type: 'started' | 'ended', phase = 'setup') =>
    (line: JsonLine): boolean =>
      line['type'] === `worktree.command.${type}` && line['phase'] === phase;

  async function assertNothingLeft(): Promise<void> {
    assert.equal((await site.repo.git('worktree', 'list')).trim().split('\n').length, 1);
    assert.equal(await site.repo.git('for-each-ref', 'refs/heads/tributary'), '');
    assert.deepEqual(await readdir(`${site.repo.root}.worktrees`).catch(() => []), []);
  }

  it('runs its commands in the new worktree, in order and without keys, and shows how they ended', async () => {
    const before = await userSide(site.repo);
    const tell = `node -e "const { env } = process; require('fs').writeFileSync(env.SITE + '/seen', [process.cwd(), env.TRIBUTARY_WORKTREE_PATH, env.TRIBUTARY_ROOT_PATH, Object.keys(env).filter((name) => /API_KEY|ANTHROPIC/.test(name)).join()].join('|'))"`;
    const end = await run('--setup', 'node trace.mjs first', '--setup', `${tell} && echo ready`);
    assert.equal(end.exitCode, 0, end.stderr);
    assert.deepEqual(server.refusals, []);
    assert.deepEqual(await site.traces(), ['first']);
    const seen = await readFile(join(site.repo.folder, 'seen'), 'utf8');
    assert.equal(seen, [site.worktree, site.worktree, site.repo.root, ''].join('|'));
    const ended = end.lines.filter(isCommand('ended'));
    assert.deepEqual(
      ended.map(({ exitCode, reason, output }) => [exitCode, reason, output]),
      [
        [0, 'exited', ''],
        [0, 'exited', 'ready'],
      ],
    );
    assert.match(
      await show(),
      /Set-up\n {2}set-up: node trace\.mjs first \(exit 0, .*\n {2}set-up: node -e /,
    );
    assert.deepEqual(await userSide(site.repo), before);
  });

  it('goes on while the first request is out, and tools wait for its end', async () => {
    const running = site.start([...runArguments, '--setup', 'node trace.mjs slow wait ready']);
    await site.arrivedAt('ready');
    await running.waitFor(entry('message', { turn: 1 }));
    assert.equal(server.requests.length, 1);
    assert.match(await show(), /set-up: node trace\.mjs slow wait ready \(running\)/);
    await site.openGate('ready');
    const end = await running.ended;
    assert.equal(end.exitCode, 0, end.stderr);
    const told = end.lines.map((line) => (entry('tool.ended')(line) ? 'result' : line['type']));
    assert.ok(told.indexOf('worktree.command.ended') < told.indexOf('result'), told.join(' '));
  });

  it('that fails is a failed start with the end of its output, and nothing is left behind', async () => {
    const before = await userSide(site.repo);
    const fail =
      "node -e \"require('fs').writeFileSync('half.txt', ''); console.log('no such package'); process.exit(7)\"";
    const end = await run(
      '--setup',
      'node trace.mjs one',
      '--setup',
      fail,
      '--setup',
      'node trace.mjs never',
    );
    assert.equal(end.exitCode, 1, end.stderr);
    const ended = end.lines.find(({ type }) => type === 'run.ended');
    assert.deepEqual([ended?.['state'], ended?.['reason']], ['failed', 'setup']);
    assert.match(String(ended?.['message']), /ended with 7\nno such package$/);
    assert.ok(end.lines.some(({ type, code }) => type === 'worktree.create.failed' && code === 'setup'));
    assert.deepEqual(await site.traces(), ['one']);
    await assertNothingLeft();
    assert.deepEqual(await userSide(site.repo), before);
    assert.match(await show(), /\(exit 7, .*\n {4}no such package/);
  });

  it('that failed for a while can be gone on from: the next Run makes a worktree and sets it up anew', async () => {
    const write = call('Write', { file_path: 'new.txt', content: 'new\n' });
    server.script(byTurn([write, write, { content: [{ type: 'text', text: finalAnswer }] }]));
    const gate = join(site.repo.folder, 'allowed');
    const end = await run('--setup', 'node trace.mjs try && test -e "$SITE/allowed"');
    assert.equal(end.exitCode, 1, end.stderr);
    await writeFile(gate, '');
    server.script(
      byRole([write, write, { content: [{ type: 'text', text: finalAnswer }] }], passingVerifier),
    );
    const resumed = await site.cli('resume', slug, '--allow-commands', '--json');
    assert.deepEqual(server.refusals, []);
    assert.deepEqual(await site.traces(), ['try', 'try']);
    assert.equal(resumed.lines.find(({ type }) => type === 'run.ended')?.['state'], 'completed');
    assert.equal(await worktree().read('new.txt'), 'new\n');
  });

  it('ends with all it started when the user stops the Run, and nothing is left behind', async () => {
    const running = site.start([
      ...runArguments,
      ...['--setup', 'node trace.mjs child wait never & node trace.mjs parent wait ready; wait'],
    ]);
    await Promise.all([site.arrivedAt('never'), site.arrivedAt('ready')]);
    running.kill('SIGINT');
    const end = await running.ended;
    assert.equal(end.exitCode, 130, end.stderr);
    await assertNothingLeft();
    await Promise.all([site.openGate('never'), site.openGate('ready')]);
    assert.deepEqual((await site.traces()).sort(), ['child', 'parent']);
    assert.equal(end.lines.find(isCommand('ended'))?.['reason'], 'cancelled');
  });

  it('leaves nothing either when our process is killed: the next command ends what runs and takes it back', async () => {
    const before = await userSide(site.repo);
    const running = site.start([...runArguments, '--setup', 'node trace.mjs slow wait ready']);
    await site.arrivedAt('ready');
    running.kill('SIGKILL');
    await running.ended;
    assert.equal((await site.cli('list')).exitCode, 0);
    await site.openGate('ready');
    await assertNothingLeft();
    assert.deepEqual(await userSide(site.repo), before);
    const resumed = await site.cli('resume', slug, '--allow-commands', '--json');
    assert.equal(resumed.exitCode, 0, resumed.stderr);
    assert.deepEqual(await site.traces(), ['slow', 'slow', 'slow late']);
  });

  it('has a tear-down before a worktree goes; what fails there is told and stops nothing', async () => {
    const end = await run('--setup', 'node trace.mjs up', '--teardown', 'node trace.mjs down; exit 4');
    assert.equal(end.exitCode, 0, end.stderr);
    const discarded = await site.cli('discard', slug, '--json');
    assert.equal(discarded.exitCode, 0, discarded.stderr);
    assert.deepEqual(await site.traces(), ['up', 'down']);
    assert.match(await show(), /tear-down: node trace\.mjs down; exit 4 \(exit 4/);
    await assertNothingLeft();
  });

  it('is made anew for the first Run in a worktree that came back', async () => {
    const end = await run('--setup', 'node trace.mjs up', '--teardown', 'node trace.mjs down');
    assert.equal(end.exitCode, 0, end.stderr);
    assert.equal((await site.cli('accept', slug, '--json')).exitCode, 0);
    assert.equal((await site.cli('undo', slug, '--json')).exitCode, 0);
    assert.deepEqual(await site.traces(), ['up', 'down']);
    const verified = await site.cli('verify', slug, '--allow-commands', '--json');
    assert.equal(verified.exitCode, 0, verified.stderr);
    assert.deepEqual(await site.traces(), ['up', 'down', 'up']);
    const again = await site.cli('verify', slug, '--allow-commands', '--json');
    assert.equal(again.exitCode, 0, again.stderr);
    assert.deepEqual(await site.traces(), ['up', 'down', 'up'], 'not once more');
  });

  it('that fails in a worktree with work in it leaves the worktree and the work', async () => {
    const end = await run('--setup', 'node trace.mjs up && ! test -e "$SITE/broken"');
    assert.equal(end.exitCode, 0, end.stderr);
    assert.equal((await site.cli('discard', slug)).exitCode, 0);
    assert.equal((await site.cli('restore', slug)).exitCode, 0);
    await writeFile(join(site.repo.folder, 'broken'), '');
    const verified = await site.cli('verify', slug, '--allow-commands', '--json');
    assert.equal(verified.exitCode, 1, verified.stderr);
    assert.match(await worktree().read('src/greet.js'), /good day/);
    assert.doesNotMatch(await site.repo.git('worktree', 'list', '--porcelain'), /locked/);
    await rm(join(site.repo.folder, 'broken'));
    assert.equal((await site.cli('verify', slug, '--allow-commands', '--json')).exitCode, 0);
  });

  it('copies ignored files, links and clones folders; none of it is recorded, all of it survives a discard', async () => {
    const { repo } = site;
    await repo.write('.gitignore', 'node_modules/\nvendor/\n.env\n');
    await repo.write('.worktreeinclude', '.env\n');
    await repo.git('add', '.gitignore', '.worktreeinclude');
    await repo.git('commit', '--quiet', '--message', 'rules', '--', '.gitignore', '.worktreeinclude');
    await repo.write('.env', 'TOKEN=1\n');
    await repo.write('node_modules/pkg/index.js', 'pkg\n');
    await repo.write('vendor/lib.txt', 'lib\n');
    const end = await run('--link', 'node_modules', '--clone', 'vendor/');
    assert.equal(end.exitCode, 0, end.stderr);
    assert.equal(await worktree().read('.env'), 'TOKEN=1\n');
    assert.equal(await readlink(join(site.worktree, 'node_modules')), join(repo.root, 'node_modules'));
    assert.equal(await worktree().read('vendor/lib.txt'), 'lib\n');
    assert.ok((await stat(join(site.worktree, 'vendor'))).isDirectory());
    const { files } = (await site.cli('show', slug, '--json')).data;
    assert.deepEqual(Array.isArray(files) && files.map(({ path }) => path), ['src/greet.js']);
    assert.match(
      await show(),
      /1 ignored file copied\n {2}vendor (shared by hard links|copied on write)\n {2}node_modules linked\n/,
    );
    const before = await listing(repo.root);
    assert.equal((await site.cli('discard', slug)).exitCode, 0);
    assert.equal(await listing(repo.root), before);
    assert.equal((await site.cli('restore', slug)).exitCode, 0);
    assert.equal(await worktree().read('node_modules/pkg/index.js'), 'pkg\n');
    assert.equal(await worktree().read('.env'), 'TOKEN=1\n');
    const again = (await site.cli('show', slug, '--json')).data['files'];
    assert.deepEqual(Array.isArray(again) && again.map(({ path }) => path), ['src/greet.js']);
  });

  it('takes the commands of a file of another tool only when it is told to', async () => {
    const setup = ['node trace.mjs imported && test "$ROOT_WORKTREE_PATH" = "$TRIBUTARY_ROOT_PATH"'];
    await site.repo.write('.cursor/worktrees.json', JSON.stringify({ 'setup-worktree': setup }));
    const end = await run('--import-setup', '--setup', 'node trace.mjs own');
    assert.equal(end.exitCode, 0, end.stderr);
    assert.deepEqual(await site.traces(), ['imported', 'own']);
    server.script(byTurn(work));
    assert.equal((await run()).exitCode, 0);
    assert.deepEqual(await site.traces(), ['imported', 'own']);
    await site.repo.remove('.cursor');
    const without = await run('--import-setup');
    assert.equal(without.exitCode, 2);
    assert.match(without.stdout.toString('utf8'), /no file of another tool names set-up commands here/);
  });

  it('refuses a shared folder outside the repository, and says so', async () => {
    server.script(byTurn(work));
    const end = await run('--link', '../elsewhere');
    assert.equal(end.exitCode, 2, end.stderr);
    assert.match(end.stdout.toString('utf8'), /a shared folder is named from the root of the repository/);
  });
});
