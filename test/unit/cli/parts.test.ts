import assert from 'node:assert/strict';
import type { AcceptOptions, MarkedFile } from '../../../src/tasks/taskApi';
import type { Script } from '../../fakes/fakeTaskService';
import { FakeHost } from './support/fakeHost';
import { storyTask } from './support/story';

const hunk = {
  path: 'src/parse.ts',
  oldStart: 4,
  oldLines: 1,
  newStart: 4,
  newLines: 3,
  isReviewed: false,
  isLanded: false,
};
const file: MarkedFile = {
  path: 'src/parse.ts',
  status: 'modified',
  oldMode: '100644',
  newMode: '100644',
  oldBlob: 'a',
  newBlob: 'b',
  isBinary: false,
  added: 4,
  removed: 2,
  isReviewed: false,
  isLanded: false,
  hunks: [
    { ...hunk, id: 'ab120000', firstLine: '+one', decision: 'reject', isReviewed: true },
    {
      ...hunk,
      id: 'ab340000',
      firstLine: '+\u001b[31mtwo',
      oldStart: 9,
      newStart: 11,
      newLines: 1,
      isLanded: true,
    },
  ],
};

const paths = [{ path: 'src/parse.ts', before: 'absent', after: 'absent' }] as const;
const open: Script = {
  find: () => Promise.resolve({ task: storyTask }),
  hunks: () => Promise.resolve({ task: storyTask, tree: 't', files: [file] }),
  preview: () => Promise.resolve({ task: storyTask, paths: [...paths], conflicts: [] }),
  accept: () => Promise.resolve({ kind: 'landed', task: storyTask, paths: ['src/parse.ts'] }),
  mark: () => Promise.resolve(storyTask),
};

describe('parts of a change on the command line', () => {
  it('hunks lists files and hunks with ids, places and marks, and lets no escape through', async () => {
    const host = new FakeHost(open);
    assert.equal(await host.run('hunks', 'fix-the-parser'), 0);
    assert.match(
      host.stdout,
      /^M src\/parse\.ts \(\+4 -2\)\n {2}ab120000 -4 \+4,3 \[rejected, reviewed\] {2}\+one\n/,
    );
    assert.match(host.stdout, / {2}ab340000 -9 \+11 \[landed\] {2}\+/);
    assert.ok(!host.stdout.includes('\u001b'));
    assert.deepEqual(host.fake.calls.at(-1), ['hunks', storyTask.id, { since: 'base' }]);
  });

  it('hunks says that a file changes its mode beside its text', async () => {
    const script = { ...file, newMode: '100755' };
    const host = new FakeHost({
      ...open,
      hunks: () => Promise.resolve({ task: storyTask, tree: 't', files: [script] }),
    });
    assert.equal(await host.run('hunks', 'fix-the-parser'), 0);
    assert.match(host.stdout, /^M src\/parse\.ts \(\+4 -2, mode 100644 -> 100755\)\n/);
  });

  it('hunks --since-review says so when nothing changed', async () => {
    const host = new FakeHost({ ...open, hunks: () => Promise.resolve({ task: storyTask, files: [] }) });
    assert.equal(await host.run('hunks', 'fix-the-parser', '--since-review'), 0);
    assert.equal(host.stdout, 'Nothing changed since your review.\n');
  });

  it('accept takes a hunk by the beginning of its id and says that the rest stays', async () => {
    const host = new FakeHost(open);
    assert.equal(await host.run('accept', 'fix-the-parser', '--hunk', 'ab3'), 0);
    const [method, , options] = host.fake.calls.at(-1) ?? [];
    assert.equal(method, 'accept');
    assert.deepEqual((options as AcceptOptions).selection, { paths: [], hunks: ['ab340000'] });
    assert.match(
      host.stdout,
      /Accepted a part of fix-the-parser: 1 path written\.\nThe Task stays open with the rest\.\n/,
    );
  });

  it('names that mean no hunk or file, or several, are refused with the way to look', async () => {
    for (const [flag, text] of [
      ['--hunk', 'ab'],
      ['--hunk', 'ff'],
      ['--path', 'src'],
    ] as const) {
      const host = new FakeHost(open);
      assert.equal(await host.run('accept', 'fix-the-parser', flag, text), 2, text);
      assert.match(host.stderr, /tributary hunks .* lists files and hunks/);
      assert.ok(!host.fake.calls.some(([method]) => method === 'accept'));
    }
  });

  it('accept says what it leaves out because you rejected it', async () => {
    const leftOut = { paths: ['bad.ts'], hunks: ['ab120000'] };
    const preview = { task: storyTask, paths: [...paths], conflicts: [], leftOut };
    const host = new FakeHost({ ...open, preview: () => Promise.resolve(preview) });
    assert.equal(await host.run('accept', 'fix-the-parser', '--dry-run'), 0);
    assert.match(
      host.stdout,
      /Left out, as you rejected it:\n {2}bad\.ts\n {2}src\/parse\.ts: hunk ab120000 at line 4\n/,
    );
  });

  it('mark says what it marked, and wants to know as what', async () => {
    const host = new FakeHost(open);
    assert.equal(await host.run('mark', 'fix-the-parser', '--hunk', 'ab1', '--as', 'reject'), 0);
    assert.equal(host.stdout, 'Marked as rejected: ab120000\n');
    const targets = { paths: [], hunks: ['ab120000'] };
    assert.deepEqual(host.fake.calls.at(-1), ['mark', storyTask.id, targets, 'reject']);
    assert.equal(await new FakeHost(open).run('mark', 'fix-the-parser', '--hunk', 'ab1'), 2);
    const all = new FakeHost(open);
    assert.equal(await all.run('mark', 'fix-the-parser', '--as', 'none'), 0);
    assert.equal(all.stdout, 'Unmarked: the whole change\n');
    assert.deepEqual(all.fake.calls.at(-1), ['mark', storyTask.id, {}, undefined]);
  });

  it('undo --merge says what was merged and where the bytes from before are', async () => {
    const merge = { paths: ['src/parse.ts'], kept: '/journal/before' };
    const outcome = { kind: 'undone', task: storyTask, paths: ['src/parse.ts', 'new.ts'], merge } as const;
    const host = new FakeHost({ ...open, undo: () => Promise.resolve(outcome) });
    assert.equal(await host.run('undo', 'fix-the-parser', '--merge'), 0);
    assert.match(
      host.stdout,
      /1 path is as before\..*\nMerged with your edits: src\/parse\.ts\nAs they were before the merge: \/journal\/before\n/,
    );
  });

  it('undo --dry-run looks only, and knows edits with and without --merge', async () => {
    const plan = { task: storyTask, paths: ['src/parse.ts', 'new.ts'], merged: ['new.ts'], conflicts: [] };
    const script: Script = { ...open, previewUndo: () => Promise.resolve(plan) };
    const merging = new FakeHost(script);
    assert.equal(await merging.run('undo', 'fix-the-parser', '--merge', '--dry-run'), 0);
    assert.match(merging.stdout, /new\.ts \(merged with your edits\)\nNothing was written/);
    const plain = new FakeHost(script);
    assert.equal(await plain.run('undo', 'fix-the-parser', '--dry-run'), 3);
    assert.match(plain.stderr, /edited since they were accepted: new\.ts/);
    assert.match(plain.stderr, /--merge/);
  });
});
