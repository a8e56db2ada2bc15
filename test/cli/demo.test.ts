import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { samplePlaybook } from '../../src/demo/samplePlaybook';
import { createSampleRepository, sampleTestCommand } from '../../src/demo/sampleRepository';
import { cleanUp, gitAt, makeFolder } from '../git/support/tempRepo';
import { endClis, runCli } from './support/cli';

describe('the offline demo', () => {
  afterEach(endClis);
  after(cleanUp);

  it('is found out (FAIL with a finding), mended (PASS), accepted, and its tests pass', async () => {
    const cwd = join(await makeFolder(), 'kitchen timer');
    await createSampleRepository(cwd, { git: (args, at) => gitAt(at, ...args) });
    const demo = ['--demo', '--allow-commands'];
    const run = await runCli(
      ['run', samplePlaybook.objective, ...demo, '--verify', '--check', sampleTestCommand],
      { cwd },
    );
    assert.equal(run.exitCode, 1, run.stderr);
    assert.match(
      run.stdout.toString(),
      /^src\/duration\.js:\d+ error .+\n(?:.*\n)*VERDICT: FAIL\ntree [0-9a-f]{40}$/m,
    );
    const list = await runCli(['list', '--json'], { cwd });
    const [task]: { slug: string }[] = JSON.parse(JSON.stringify(list.data['tasks']));
    assert.ok(task !== undefined);
    const fix = await runCli(['fix', task.slug, ...demo], { cwd });
    assert.equal(fix.exitCode, 0, fix.stderr + fix.stdout.toString());
    assert.match(fix.stdout.toString(), /VERDICT: PASS\ntree [0-9a-f]{40}\n$/);
    const again = await runCli(['fix', task.slug, ...demo], { cwd });
    assert.equal(again.exitCode, 0);
    assert.match(again.stdout.toString(), /no open finding/);
    assert.equal((await runCli(['accept', task.slug], { cwd })).exitCode, 0);
    const tests = spawn(sampleTestCommand, { cwd, shell: true, stdio: 'ignore' });
    assert.equal(await new Promise((resolve) => tests.once('close', resolve)), 0);
  });

  it('says which objectives it knows when it is given another one', async () => {
    const cwd = join(await makeFolder(), 'timer');
    await createSampleRepository(cwd, { git: (args, at) => gitAt(at, ...args) });
    const run = await runCli(['run', 'Write a compiler', '--demo', '--no-verify'], { cwd });
    assert.match(run.stdout.toString(), /1h30m must be 5400 seconds/);
  });
});
