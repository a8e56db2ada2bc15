import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Parts } from '../../src/compose';
import { baseScheme } from '../../src/editor/review/taskFileSystem';
import { openFindings, type Task } from '../../src/model/task';
import {
  answering,
  board,
  checkoutFolder,
  eventually,
  extensionParts,
  labelOf,
  runTask,
  taskNow,
  treeText,
} from './parts';

const source = 'src/duration.js';

describe('a Task in the editor', function () {
  // Opening editors takes its time where machines are slow.
  this.timeout(180_000);
  let parts: Parts;
  let task: Task;
  let original: string;
  let dialogs: ReturnType<typeof answering>;

  after(() =>
    vscode.workspace
      .getConfiguration('files')
      .update('autoSave', undefined, vscode.ConfigurationTarget.Global),
  );

  const inCheckout = (): Promise<string> => readFile(join(checkoutFolder(), source), 'utf8');
  const call = (id: string, argument: object = { taskId: task.id }): Thenable<unknown> =>
    vscode.commands.executeCommand(id, argument);

  before(async () => {
    // In a browser the editor saves by itself; here unsaved text is wanted.
    await vscode.workspace
      .getConfiguration('files')
      .update('autoSave', 'off', vscode.ConfigurationTarget.Global);
    parts = await extensionParts();
    original = await inCheckout();
    await parts.consent.set((await board(parts)).id, true);
    task = await runTask(parts, { checks: ['npm test'] });
  });

  beforeEach(() => {
    dialogs = answering(parts);
  });

  afterEach(() => {
    dialogs.restore();
  });

  it('is shown with its Runs, what it came to, and where it may go', async () => {
    await eventually(() => treeText(parts).some((row) => row.includes('1 file')));
    const rows = treeText(parts);
    assert.match(rows[0] ?? '', /^Fix the duration parser… \| FAIL, 1 finding · 1 file$/);
    assert.match(rows[1] ?? '', /^ {2}general \| \d+ s$/);
    assert.match(rows[2] ?? '', /^ {2}verification \| FAIL · \d+ s$/);
    const [node] = parts.tree.getChildren();
    assert.ok(node);
    const item = parts.tree.getTreeItem(node);
    for (const word of ['task', 'acceptable', 'fixable', 'discardable', 'standing'])
      assert.ok(item.contextValue?.split(' ').includes(word), word);
    assert.match(
      item.accessibilityInformation?.label ?? '',
      /must be 5400 seconds, FAIL, 1 finding · 1 file$/,
    );
    // At the width the side bar has by itself, the verdict is seen.
    assert.ok(labelOf(item).length <= 24);
    const { tooltip } = parts.tree.resolveTreeItem(item, node);
    assert.ok(tooltip instanceof vscode.MarkdownString);
    for (const part of ['Base: HEAD', 'Verdict: FAIL', 'requests'])
      assert.ok(tooltip.value.replaceAll('&nbsp;', ' ').includes(part), `${part} in ${tooltip.value}`);
  });

  it('is counted on the badge of the view, with words', async () => {
    await eventually(() => parts.view.badge?.value === 1);
    assert.equal(parts.view.badge?.tooltip, '1 ready');
  });

  it('shows its finding on the file of the worktree and, mapped, on the checkout’s own', async () => {
    const here = vscode.Uri.file(join(checkoutFolder(), source));
    const there = vscode.Uri.file(join(task.worktreePath ?? '', source));
    const ours = (uri: vscode.Uri): vscode.Diagnostic[] =>
      vscode.languages.getDiagnostics(uri).filter((one) => one.source === 'Tributary');
    await eventually(() => ours(there).length === 1 && ours(here).length === 1);
    const [diagnostic] = ours(there);
    assert.ok(diagnostic);
    const [finding] = openFindings(task);
    assert.equal(diagnostic.range.start.line + 1, finding?.location?.line);
    assert.equal(diagnostic.severity, vscode.DiagnosticSeverity.Error);
    assert.ok(typeof diagnostic.code === 'object' && 'target' in diagnostic.code);
    assert.match(diagnostic.code.target.toString(), /^command:tributary\.finding\.showEvidence/);
    // The line that the finding is about is not in the checkout: it is marked there as such.
    assert.equal(ours(here)[0]?.severity, vscode.DiagnosticSeverity.Hint);
    assert.match(
      ours(here)[0]?.message ?? '',
      /^In the change of "Fix the duration parser.*", not in this file: /,
    );
  });

  it('moves a finding with edits above it, and marks it stale when its own line changes', async () => {
    const uri = vscode.Uri.file(join(task.worktreePath ?? '', source));
    const [finding] = openFindings(task);
    const line = (finding?.location?.line ?? 1) - 1;
    const ours = (): vscode.Diagnostic | undefined =>
      vscode.languages.getDiagnostics(uri).find((one) => one.source === 'Tributary');
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '// one\n// two\n'));
    await eventually(() => ours()?.range.start.line === line + 2);
    assert.equal(ours()?.severity, vscode.DiagnosticSeverity.Error);
    await editor.edit((edit) => edit.insert(new vscode.Position(line + 2, 0), 'x'));
    await eventually(() => ours()?.severity === vscode.DiagnosticSeverity.Hint);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await eventually(() => ours()?.range.start.line === line);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('offers to fix, to show evidence and to dismiss, where the finding stands', async () => {
    const uri = vscode.Uri.file(join(task.worktreePath ?? '', source));
    await vscode.workspace.openTextDocument(uri);
    const [shown] = parts.findings.of(uri);
    assert.ok(shown);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      new vscode.Range(shown.diagnostic.range.start, shown.diagnostic.range.start),
    );
    const ids = actions.map((action) => action.command?.command);
    for (const id of ['tributary.finding.fix', 'tributary.finding.showEvidence', 'tributary.finding.dismiss'])
      assert.ok(ids.includes(id), `${id} in ${ids.join()}`);
  });

  it('is reviewed with its base on the left, byte for byte', async () => {
    await call('tributary.task.review');
    const label = 'Review: Fix the duration parser';
    const isOpen = (): boolean =>
      vscode.window.tabGroups.all.some(({ tabs }) => tabs.some((tab) => tab.label.startsWith(label)));
    await eventually(isOpen);
    const left = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === baseScheme);
    if (left !== undefined) assert.equal(left.getText(), original);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('writes nothing when the user looks at the preview and cancels', async () => {
    await call('tributary.task.accept');
    assert.equal(dialogs.asked.length, 1);
    assert.match(dialogs.asked[0]?.message ?? '', /^Accept "Fix the duration parser/);
    assert.match(dialogs.asked[0]?.detail ?? '', /Verdict: FAIL, 1 finding\./);
    assert.match(dialogs.asked[0]?.detail ?? '', /^M {2}src\/duration\.js$/m);
    assert.equal(await inCheckout(), original);
    assert.equal(taskNow(parts, task).state, 'open');
  });

  it('saves unsaved text on a path it would write, or leaves everything as it is', async () => {
    const document = await vscode.workspace.openTextDocument(join(checkoutFolder(), source));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '// unsaved\n'));
    await call('tributary.task.accept');
    assert.match(dialogs.asked[0]?.message ?? '', /unsaved edits/);
    assert.ok(document.isDirty);
    assert.equal(await inCheckout(), original);
    dialogs.choose.push('Save and Continue');
    await call('tributary.task.accept');
    assert.ok(!document.isDirty);
    assert.match(dialogs.asked[2]?.message ?? '', /^Accept /);
    await writeFile(join(checkoutFolder(), source), original);
    await eventually(() => document.getText() === original);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('lands nothing that was not shown: a file that slipped in while the question stood is looked at again', async () => {
    const late = join(task.worktreePath ?? '', 'late.txt');
    parts.dialogs.decide = async (message, detail) => {
      assert.doesNotMatch(`${message} ${detail}`, /late\.txt/);
      await writeFile(late, 'slipped in\n');
      return 'Accept';
    };
    await call('tributary.task.accept');
    assert.deepEqual(dialogs.said, [
      'Nothing was written: files changed after they were looked at: late.txt.',
    ]);
    assert.equal(await inCheckout(), original);
    assert.equal(taskNow(parts, task).state, 'open');
    await rm(late);
  });

  it('lands when accepted, says so once, and is as before when undone', async () => {
    dialogs.choose.push('Accept');
    await call('tributary.task.accept');
    assert.notEqual(await inCheckout(), original);
    assert.equal(taskNow(parts, task).state, 'accepted');
    assert.deepEqual(dialogs.said, [
      'Accepted "Fix the duration parser: 1h30m must be 5400 seconds": 1 file written.',
    ]);
    await eventually(() => parts.view.badge === undefined);
    const here = vscode.Uri.file(join(checkoutFolder(), source));
    await eventually(() => !vscode.languages.getDiagnostics(here).some((one) => one.source === 'Tributary'));
    await call('tributary.task.undo');
    assert.equal(await inCheckout(), original);
    assert.equal(taskNow(parts, task).state, 'open');
    await eventually(() => parts.view.badge?.value === 1);
  });

  it('says that an accepted Task was undone already, where the button of its notification still stands', async () => {
    let press: (title: string | undefined) => void = () => assert.fail('nothing to press');
    const said: string[] = [];
    parts.dialogs.say = (_tone, message, ...actions) => {
      said.push(message);
      if (!actions.includes('Undo')) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        press = resolve;
      });
    };
    dialogs.choose.push('Accept');
    await call('tributary.task.accept');
    await call('tributary.task.undo');
    press('Undo');
    await eventually(() => said.length === 3);
    assert.match(said[2] ?? '', /^"Fix the duration parser.*" was undone already; nothing was changed\.$/);
    assert.equal(await inCheckout(), original);
  });

  it('shows a conflict by file and writes nothing', async () => {
    const file = join(checkoutFolder(), source);
    const other = original.replace('const match', 'const found');
    await writeFile(file, other);
    try {
      await call('tributary.task.accept');
      assert.match(dialogs.asked[0]?.message ?? '', /conflicts with your checkout\. Nothing was written\.$/);
      assert.match(dialogs.asked[0]?.detail ?? '', /^src\/duration\.js \(/);
      assert.equal(await inCheckout(), other);
      assert.equal(taskNow(parts, task).state, 'open');
    } finally {
      await writeFile(file, original);
    }
  });

  it('is discarded after asking once, and restored with its worktree', async () => {
    await call('tributary.task.discard');
    assert.equal(taskNow(parts, task).state, 'open', 'asked and left');
    dialogs.choose.push('Discard');
    await call('tributary.task.discard');
    assert.equal(taskNow(parts, task).state, 'discarded');
    assert.equal(dialogs.asked.length, 2);
    await assert.rejects(stat(task.worktreePath ?? ''));
    await call('tributary.task.restore');
    assert.equal(taskNow(parts, task).state, 'open');
    assert.ok((await stat(task.worktreePath ?? '')).isDirectory());
  });

  it('dismisses a finding with a reason, and is then without one', async () => {
    const [finding] = openFindings(taskNow(parts, task));
    assert.ok(finding);
    await call('tributary.finding.dismiss', { taskId: task.id, findingId: finding.id });
    assert.equal(openFindings(taskNow(parts, task)).length, 1, 'no reason, no change');
    dialogs.type.push('known and wanted');
    await call('tributary.finding.dismiss', { taskId: task.id, findingId: finding.id });
    assert.deepEqual(openFindings(taskNow(parts, task)), []);
    assert.equal(taskNow(parts, task).dismissed[0]?.reason, 'known and wanted');
    const there = vscode.Uri.file(join(task.worktreePath ?? '', source));
    await eventually(() => parts.findings.of(there).length === 0);
  });

  it('says a failure once, in plain words', async () => {
    await call('tributary.task.undo');
    assert.equal(dialogs.said.length, 1);
    assert.match(
      dialogs.said[0] ?? '',
      /^That is not possible with the Task as it is now: .* Its row in the Tasks view/,
    );
  });
});
