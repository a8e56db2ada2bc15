import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Parts } from '../../src/compose';
import type { ReviewNode } from '../../src/editor/review/reviewTree';
import type { Task } from '../../src/model/task';
import {
  answering,
  board,
  checkoutFolder,
  eventually,
  extensionParts,
  labelOf,
  runTask,
  taskNow,
} from './parts';

const run = promisify(execFile);
const source = 'src/duration.js';
const checks = ['! grep broken list.txt'];

describe('the review of a Task, hunk by hunk', function () {
  this.timeout(180_000);
  let parts: Parts;
  let task: Task;
  let original: string;
  let dialogs: ReturnType<typeof answering>;

  const inCheckout = (path = source): Promise<string> => readFile(join(checkoutFolder(), path), 'utf8');
  const inWorktree = (path: string): string => join(task.worktreePath ?? '', path);
  const call = (id: string, argument: object = { taskId: task.id }): Thenable<unknown> =>
    vscode.commands.executeCommand(id, argument);
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: checkoutFolder() })).stdout.trim();
  const rows = (parent?: ReviewNode): ReviewNode[] => parts.reviewTree.getChildren(parent);
  const fileNode = (path: string): ReviewNode => {
    const node = rows().find((one) => one.path === path);
    assert.ok(node, `${path} is a row`);
    return node;
  };
  const hunkNodes = (): ReviewNode[] => rows(fileNode('list.txt'));
  const words = (node: ReviewNode): string[] =>
    parts.reviewTree.getTreeItem(node).contextValue?.split(' ') ?? [];
  const text = (node: ReviewNode): string => {
    const item = parts.reviewTree.getTreeItem(node);
    return `${labelOf(item)} | ${String(item.description)}`;
  };

  before(async () => {
    parts = await extensionParts();
    await writeFile(join(checkoutFolder(), 'list.txt'), lines());
    await git('add', 'list.txt');
    await git('-c', 'user.name=T', '-c', 'user.email=t@e', 'commit', '-q', '-m', 'a list');
    original = await inCheckout();
    await parts.consent.set((await board(parts)).id, true);
    task = await runTask(parts, { checks });
    // The user works on in the Worktree: two hunks of one file.
    await writeFile(inWorktree('list.txt'), lines({ 2: 'two', 11: 'eleven' }));
    parts.reviewState.show(task.id);
    await parts.reviewState.refresh();
    await eventually(() => rows().length === 2);
  });

  beforeEach(() => {
    dialogs = answering(parts);
  });

  after(async () => {
    // Other files of the suite share the folder and its board.
    await git('reset', '--quiet', '--hard', 'HEAD~1');
    const last = answering(parts);
    last.choose.push('Discard');
    await call('tributary.task.discard');
    last.restore();
  });

  afterEach(async () => {
    dialogs.restore();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('shows files with their hunks below, by lines and first changed line', () => {
    assert.deepEqual(hunkNodes().map(text), ['2  + two | ', '11  + eleven | ']);
    assert.match(text(fileNode(source)), /^duration\.js \| src · \+\d+ −\d+$/);
    assert.deepEqual(words(fileNode('list.txt')), ['file', 'unreviewed', 'rejectable', 'landable']);
    const item = parts.reviewTree.getTreeItem(hunkNodes()[0] ?? fileNode(source));
    assert.equal(item.accessibilityInformation?.label, 'line 2, + two');
  });

  it('opens the difference at the hunk, and goes from hunk to hunk by commands', async () => {
    const [first] = hunkNodes();
    assert.ok(first);
    const editor = (): vscode.TextEditor | undefined => vscode.window.activeTextEditor;
    const isAt = (name: string, line: number): boolean =>
      editor()?.document.uri.fsPath.endsWith(name) === true && editor()?.selection.active.line === line - 1;
    await vscode.window.showTextDocument(vscode.Uri.file(inWorktree('list.txt')));
    await call('tributary.hunk.next', {});
    await eventually(() => isAt('list.txt', 2));
    await call('tributary.hunk.next', {});
    await eventually(() => isAt('list.txt', 11));
    await call('tributary.hunk.previous', {});
    await eventually(() => isAt('list.txt', 2));
  });

  it('marks, rejects and takes in again, and never edits the worktree by it', async () => {
    const before = await readFile(inWorktree('list.txt'), 'utf8');
    const [first, second] = hunkNodes();
    assert.ok(first && second);
    await call('tributary.hunk.markReviewed', first);
    await eventually(() => words(first).includes('reviewed'));
    await call('tributary.hunk.reject', first);
    await eventually(() => words(first).includes('rejected'));
    assert.match(text(fileNode('list.txt')), /1 of 2 rejected$/);
    assert.equal(text(first), '2  + two | rejected');
    await call('tributary.hunk.unreject', first);
    await eventually(() => words(first).includes('rejectable'));
    assert.ok(words(first).includes('reviewed'), 'what was reviewed stays so');
    parts.reviewState.setSinceReview(true);
    await eventually(() => hunkNodes().length === 1);
    parts.reviewState.setSinceReview(false);
    await eventually(() => hunkNodes().length === 2);
    assert.equal(await readFile(inWorktree('list.txt'), 'utf8'), before);
  });

  it('lands the hunk at the cursor, leaves the Task open with the rest, and takes it back', async () => {
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(inWorktree('list.txt')));
    editor.selection = new vscode.Selection(10, 0, 10, 0);
    dialogs.choose.push('Land');
    await call('tributary.hunk.land', {});
    assert.equal(dialogs.asked[0]?.message, 'Land line 11 of list.txt? The rest of the Task stays open.');
    assert.match(dialogs.asked[0]?.detail ?? '', /Run on the merged files first: ! grep broken list\.txt/);
    assert.equal(await inCheckout('list.txt'), lines({ 11: 'eleven' }));
    assert.equal(taskNow(parts, task).state, 'open');
    await eventually(() => words(hunkNodes()[1] ?? fileNode(source)).includes('landed'));
    assert.match(dialogs.said[0] ?? '', /^Landed a part of .*: 1 file written\.$/);
    await call('tributary.task.undo');
    assert.equal(await inCheckout('list.txt'), lines());
    assert.match(dialogs.said[1] ?? '', /^Undone the last part of /);
  });

  it('offers to keep later edits where an undo would write over them', async () => {
    const [, second] = hunkNodes();
    dialogs.choose.push('Land');
    await call('tributary.hunk.land', second);
    await writeFile(join(checkoutFolder(), 'list.txt'), lines({ 6: 'mine', 11: 'eleven' }));
    await call('tributary.task.undo');
    assert.match(dialogs.asked[1]?.message ?? '', /were edited since it was accepted\.$/);
    assert.match(dialogs.asked[1]?.detail ?? '', /later edits stay in:\nlist\.txt/);
    assert.equal(await inCheckout('list.txt'), lines({ 6: 'mine', 11: 'eleven' }), 'only looked');
    dialogs.choose.push('Undo and Keep My Edits');
    await call('tributary.task.undo');
    assert.equal(await inCheckout('list.txt'), lines({ 6: 'mine' }));
    await writeFile(join(checkoutFolder(), 'list.txt'), lines());
  });

  it('lands nothing where an acceptance test fails on the merged files, but when the user says so', async () => {
    await writeFile(join(checkoutFolder(), 'list.txt'), lines({ 6: 'broken' }));
    dialogs.choose.push('Land', 'Land Anyway');
    await call('tributary.file.land', fileNode('list.txt'));
    assert.equal(
      dialogs.asked[1]?.message,
      'Nothing was written: ! grep broken list.txt ended with exit code 1',
    );
    assert.match(dialogs.asked[1]?.detail ?? '', /broken/);
    assert.equal(await inCheckout('list.txt'), lines({ 2: 'two', 6: 'broken', 11: 'eleven' }));
    await call('tributary.task.undo');
    assert.equal(await inCheckout('list.txt'), lines({ 6: 'broken' }));
    await writeFile(join(checkoutFolder(), 'list.txt'), lines());
  });

  it('accepts all that is not rejected as one commit, names what is left out, and is undone', async () => {
    const head = await git('rev-parse', 'HEAD');
    const [first] = hunkNodes();
    await call('tributary.hunk.reject', first);
    await git('config', 'user.name', 'Tester');
    await git('config', 'user.email', 'tester@example.com');
    parts.dialogs.pick = async (question) => {
      const value = question.items.find(({ label }) => label === 'One Commit');
      return value === undefined ? { kind: 'left' } : { kind: 'given', value };
    };
    dialogs.type.push('Durations add up');
    dialogs.choose.push('Accept');
    await call('tributary.task.acceptAs');
    const detail = dialogs.asked[0]?.detail ?? '';
    assert.match(detail, /Committed on \S+ \([0-9a-f]{12}\):\nDurations add up/);
    assert.match(detail, /Left out, as you rejected it:\nlist\.txt:2$/);
    assert.equal(await git('log', '-1', '--format=%s'), 'Durations add up');
    assert.equal(await inCheckout('list.txt'), lines({ 11: 'eleven' }));
    assert.match(dialogs.said[0] ?? '', /, [0-9a-f]{12} committed on /);
    await call('tributary.task.undo');
    assert.equal(await git('rev-parse', 'HEAD'), head);
    await call('tributary.hunk.unreject', first);
    assert.equal(await inCheckout(), original);
  });

  it('leads from a conflict to the markers in the worktree, and can be accepted when they are resolved', async () => {
    await writeFile(join(checkoutFolder(), 'list.txt'), lines({ 11: 'mine' }));
    dialogs.choose.push('Resolve in the Worktree');
    await call('tributary.task.accept');
    assert.deepEqual(dialogs.asked[0]?.actions, [
      'Let an Agent Resolve',
      'Resolve in the Worktree',
      'Show Conflicts',
    ]);
    await eventually(() => dialogs.said.length === 1);
    assert.match(dialogs.said[0] ?? '', /^To resolve in the worktree: list\.txt \(conflict markers\)/);
    // Open before, it is shown as it is now once the editor has heard of it.
    const shownText = (): string => vscode.window.activeTextEditor?.document.getText() ?? '';
    await eventually(() => /^<<<<<<< your checkout$/m.test(shownText()));
    const row = (): string => {
      const node = parts.tree.getChildren().find((one) => 'taskId' in one && one.taskId === task.id);
      return node === undefined ? '' : String(parts.tree.getTreeItem(node).description);
    };
    await eventually(() => row().startsWith('1 file to resolve · '));
    await call('tributary.task.accept');
    assert.match(dialogs.asked[1]?.message ?? '', /conflicts are not resolved yet\. Nothing was written\.$/);
    const document = await vscode.workspace.openTextDocument(inWorktree('list.txt'));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) =>
      edit.replace(new vscode.Range(0, 0, document.lineCount, 0), lines({ 11: 'both' })),
    );
    await document.save();
    await eventually(() => !row().includes('to resolve'));
    dialogs.choose.push('Accept');
    await call('tributary.task.accept');
    assert.equal(await inCheckout('list.txt'), lines({ 11: 'both' }));
    await call('tributary.task.undo');
    assert.equal(await inCheckout('list.txt'), lines({ 11: 'mine' }));
  });
});

/** Twelve lines, some of them other ones. */
function lines(other: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: 12 }, (_, index) => `${other[index + 1] ?? `line ${index + 1}`}\n`).join('');
}
