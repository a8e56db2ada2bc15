import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sampleTestCommand } from '../../src/demo/sampleRepository';
import { MainRoad } from './support/mainRoad';
import { makeSampleFolder } from './support/sampleFolder';
import { suiteEditor } from './support/suiteEditor';

const run = promisify(execFile);

describe('the main road, by clicks and keys alone, on the packed extension in a clean profile', function () {
  // One agent after another, on machines that do other things too.
  this.timeout(600_000);
  this.bail(true);

  let road: MainRoad;
  let sample: Awaited<ReturnType<typeof makeSampleFolder>>;
  let untouched: string;

  before(async () => {
    sample = await makeSampleFolder();
    untouched = await source();
    road = new MainRoad(
      await (await suiteEditor()).open(sample.folder),
      process.env['TRIBUTARY_SCREENSHOTS'],
    );
  });

  afterEach(async function () {
    await road?.window.tellIfFailed(this.currentTest, 'last');
  });

  after(async () => {
    await road?.window.close();
    await sample?.remove();
  });

  it('starts a Task and streams its transcript', async () => {
    await road.startTask();
    await road.watchTranscript();
  });

  it('asks for a command, is allowed for the repository, and ends with FAIL', async () => {
    await road.allowCommands();
    await road.waitForRow(/FAIL, 1 finding ·/);
    assert.equal(await source(), untouched);
  });

  it('shows the finding under the code in the review and starts the fix from its quick fix', async () => {
    await road.fixByQuickFix(await road.seeFindingInReview());
  });

  it('offers to show, in the review that is open, the files that came with the fix, and ends with PASS', async () => {
    await road.refreshReview(2);
    await road.waitForRow(/PASS.*ready/);
    assert.equal(await source(), untouched);
  });

  it('accepts, undoes byte for byte, and accepts again', async () => {
    await road.accept();
    const landed = await source();
    assert.notEqual(landed, untouched);
    await road.undo();
    assert.equal(await source(), untouched);
    await road.accept();
    assert.equal(await source(), landed);
    await run(sampleTestCommand, { cwd: sample.folder, shell: true });
  });

  it('discards another Task, which takes its worktree, and restores it', async () => {
    const worktrees = () => readdir(`${sample.folder}.worktrees`).catch(() => []);
    await road.startTask();
    await road.waitForRow(/FAIL, 1 finding ·/);
    const standing = await worktrees();
    await road.discard();
    // The Task is over when its folder has left its place; its files go after that.
    while ((await worktrees()).length > 0) await delay(50);
    await road.restore();
    assert.deepEqual(await worktrees(), standing);
  });

  it('leaves no error in the window', () => {
    assert.deepEqual(road.window.errors, []);
  });

  function source(): Promise<string> {
    return readFile(join(sample.folder, 'src', 'duration.js'), 'utf8');
  }
});
