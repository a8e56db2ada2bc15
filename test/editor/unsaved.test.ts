import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Parts } from '../../src/compose';
import type { Task } from '../../src/model/task';
import { answering, board, checkoutFolder, eventually, extensionParts, runTask, taskNow } from './parts';

const source = 'src/duration.js';

describe('deciding about a Task while editors hold unsaved edits, twice, or on a row that was lost', function () {
  this.timeout(180_000);
  let parts: Parts;
  let task: Task;
  let original: string;
  let dialogs: ReturnType<typeof answering>;

  const autoSave = (value: string | undefined): Thenable<void> =>
    vscode.workspace.getConfiguration('files').update('autoSave', value, vscode.ConfigurationTarget.Global);
  const inCheckout = (): Promise<string> => readFile(join(checkoutFolder(), source), 'utf8');
  const call = (id: string): Thenable<unknown> => vscode.commands.executeCommand(id, { taskId: task.id });
  /** Opens a file, types a line at its top and leaves it unsaved. */
  const typeInto = async (file: string, text: string): Promise<vscode.TextDocument> => {
    const document = await vscode.workspace.openTextDocument(file);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), text));
    assert.ok(document.isDirty);
    return document;
  };
  const revert = async (): Promise<void> => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  };

  before(async () => {
    await autoSave('off');
    parts = await extensionParts();
    original = await inCheckout();
    await parts.consent.set((await board(parts)).id, true);
    task = await runTask(parts);
  });

  beforeEach(() => {
    dialogs = answering(parts);
  });

  afterEach(() => {
    dialogs.restore();
  });

  after(async () => {
    dialogs = answering(parts);
    dialogs.choose.push('Discard');
    if (taskNow(parts, task).state === 'open') await call('tributary.task.discard');
    dialogs.restore();
    await autoSave(undefined);
  });

  it('a second click on Accept while its question stands opens no second question', async () => {
    let answer: () => void = () => assert.fail('nothing was asked');
    let asked = 0;
    parts.dialogs.decide = () => {
      asked += 1;
      return new Promise((resolve) => {
        answer = () => resolve(undefined);
      });
    };
    const first = call('tributary.task.accept');
    await eventually(() => asked === 1);
    await call('tributary.task.accept');
    answer();
    await first;
    assert.equal(asked, 1);
    assert.equal(taskNow(parts, task).state, 'open');
  });

  it('a button of a row that the editor lost while it refreshed acts on no other row', async () => {
    await vscode.commands.executeCommand('tributary.task.discard', undefined, undefined);
    assert.deepEqual(dialogs.asked, []);
    assert.deepEqual(dialogs.said, ['The list was just changing, so nothing was done. Press again.']);
  });

  it('Accept asks to save what was typed into the worktree, and lands it', async () => {
    const document = await typeInto(join(task.worktreePath ?? '', source), '// by hand\n');
    await call('tributary.task.accept');
    assert.equal(dialogs.asked.length, 1, 'asked and left');
    assert.match(dialogs.asked[0]?.detail ?? '', /src\/duration\.js$/);
    assert.equal(await inCheckout(), original);
    dialogs.choose.push('Save and Continue', 'Accept');
    await call('tributary.task.accept');
    assert.ok(!document.isDirty);
    assert.match(await inCheckout(), /^\/\/ by hand\n/);
    await revert();
  });

  it('Undo asks when a file it would write back has unsaved edits, and loses none', async () => {
    const landed = await inCheckout();
    const document = await typeInto(join(checkoutFolder(), source), '// mine\n');
    await call('tributary.task.undo');
    assert.equal(dialogs.asked.length, 1);
    assert.match(dialogs.asked[0]?.message ?? '', /^Files that Undo would write have unsaved edits/);
    assert.ok(document.isDirty);
    assert.equal(await inCheckout(), landed);
    assert.equal(taskNow(parts, task).state, 'accepted');
    await revert();
    await call('tributary.task.undo');
    assert.equal(dialogs.asked.length, 1);
    assert.equal(await inCheckout(), original);
  });

  it('unsaved edits are found also where the folder is open by a link', async () => {
    const place = await mkdtemp(join(tmpdir(), 'tributary-link-'));
    const link = join(place, 'linked');
    await symlink(checkoutFolder(), link);
    try {
      await typeInto(join(link, source), '// through a link\n');
      await call('tributary.task.accept');
      assert.match(dialogs.asked[0]?.message ?? '', /unsaved edits/);
      await revert();
    } finally {
      await rm(place, { recursive: true });
    }
    assert.equal(await inCheckout(), original);
  });

  it('Discard says which unsaved edits go, and a restored worktree has them', async () => {
    const file = join(task.worktreePath ?? '', source);
    await typeInto(file, '// late thought\n');
    dialogs.choose.push('Discard');
    await call('tributary.task.discard');
    assert.match(dialogs.asked[0]?.detail ?? '', /unsaved edits.*\n.*duration\.js$/);
    assert.equal(taskNow(parts, task).state, 'discarded');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await call('tributary.task.restore');
    assert.match(await readFile(file, 'utf8'), /^\/\/ late thought\n/);
  });
});
