import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Parts } from '../../src/compose';
import type { LiveBoard } from '../../src/editor/liveBoard';
import {
  answering,
  board,
  checkoutFolder,
  demoObjective,
  eventually,
  extensionParts,
  treeText,
} from './parts';

describe('a command that nobody allowed yet', () => {
  let parts: Parts;
  let live: LiveBoard;
  let dialogs: ReturnType<typeof answering>;

  before(async () => {
    parts = await extensionParts();
    live = await board(parts);
    await parts.consent.set(live.id, false);
  });

  beforeEach(() => {
    dialogs = answering(parts);
  });

  afterEach(async () => {
    for (const { id } of parts.inbox.pending) parts.inbox.answer(id, false);
    for (const task of live.tasks) if (live.isBusy(task.id)) await live.core.tasks.stop({ taskId: task.id });
    await eventually(() => !live.core.tasks.isBusy());
    dialogs.restore();
  });

  it('is asked about in the tree, on the badge and in a message, and goes on when it is allowed', async () => {
    const given = { objective: demoObjective, agent: 'general', base: 'HEAD', checks: [] };
    await vscode.commands.executeCommand('tributary.task.new', given);
    await eventually(() => parts.inbox.pending.length === 1);
    const [question] = parts.inbox.pending;
    assert.equal(question?.command, 'npm test');
    await eventually(() => dialogs.said.length === 1);
    assert.equal(dialogs.said[0], 'general wants to run in its worktree: npm test');
    const rows = treeText(parts);
    assert.ok(
      rows.some((row) => /^ {2}waiting for you: npm test \| general$/.test(row)),
      rows.join('\n'),
    );
    assert.match(rows[0] ?? '', /waiting for you: npm test$/);
    assert.ok(rows.includes('  general | waiting for you'), rows.join('\n'));
    await eventually(() => /1 waiting for you/.test(parts.view.badge?.tooltip ?? ''));
    await vscode.commands.executeCommand('tributary.question.allow', { questionId: question?.id });
    await eventually(() => parts.inbox.pending[0]?.id !== question?.id);
    // The notification stands for a while longer, and may be clicked then.
    await vscode.commands.executeCommand('tributary.question.allow', { questionId: question?.id });
    assert.equal(dialogs.said.at(-1), 'That question was answered already; nothing was changed.');
  });

  it('is said to be answered already when its message is clicked after that, and its waiting is not work', async () => {
    let click: (action: string) => void = () => undefined;
    const said: string[] = [];
    parts.dialogs.say = async (_tone, message, ...actions) => {
      said.push(message);
      return actions.includes('Deny') ? new Promise((resolve) => (click = resolve)) : undefined;
    };
    const known = live.tasks.length;
    const given = { objective: demoObjective, agent: 'general', base: 'HEAD', checks: [] };
    await vscode.commands.executeCommand('tributary.task.new', given);
    await eventually(() => said.length === 1);
    const [question] = parts.inbox.pending;
    assert.ok(question !== undefined && parts.inbox.answer(question.id, false));
    click('Allow');
    await eventually(() => said.some((text) => text.startsWith('That question was answered already')));
    const task = live.tasks[known];
    assert.ok(task);
    await live.core.tasks.stop({ taskId: task.id });
    await eventually(() => parts.boards.find(task.id)?.task.runs[0]?.waitedMs !== undefined);
  });

  it('is denied when the Run is stopped', async () => {
    const given = { objective: demoObjective, agent: 'general', base: 'HEAD', checks: [] };
    const known = live.tasks.length;
    await vscode.commands.executeCommand('tributary.task.new', given);
    await eventually(() => parts.inbox.pending.length === 1);
    const task = live.tasks[known];
    assert.ok(task);
    await vscode.commands.executeCommand('tributary.task.stop', { taskId: task.id });
    assert.equal(parts.inbox.pending.length, 0);
    await eventually(() => parts.boards.find(task.id)?.task.runs[0]?.status.state === 'stopped');
    assert.deepEqual(
      dialogs.said.filter((text) => !text.includes('wants to run')),
      [],
    );
  });

  it('is allowed with all that wait, once the user consents for the repository; nothing of that is in the repository', async () => {
    const given = { objective: demoObjective, agent: 'general', base: 'HEAD', checks: [] };
    await vscode.commands.executeCommand('tributary.task.new', given);
    await eventually(() => parts.inbox.pending.length === 1);
    // As from the menu of the question's row.
    const [{ taskId, id: questionId } = {}] = parts.inbox.pending;
    await vscode.commands.executeCommand('tributary.consent.allowCommands', { taskId, questionId });
    assert.ok(!parts.consent.isGiven(live.id), 'asked and left');
    assert.match(dialogs.asked[0]?.detail ?? '', /by the command "Ask Before Commands in This Repository"/);
    dialogs.choose.push('Allow');
    await vscode.commands.executeCommand('tributary.consent.allowCommands', { taskId, questionId });
    assert.ok(parts.consent.isGiven(live.id));
    assert.equal(parts.inbox.pending.length, 0);
    const names = await readdir(join(checkoutFolder(), '.git', 'tributary'), { recursive: true });
    assert.ok(!names.some((name) => /consent/i.test(name)), names.join());
    await vscode.commands.executeCommand('tributary.consent.revoke');
    assert.ok(!parts.consent.isGiven(live.id));
  });
});

describe('the key', () => {
  it('is stored, used before the environment’s, and removed by command', async () => {
    const parts = await extensionParts();
    const dialogs = answering(parts);
    try {
      const before = await parts.secrets.credentials();
      dialogs.type.push('  key-of-a-test ');
      await vscode.commands.executeCommand('tributary.key.set');
      assert.deepEqual(await parts.secrets.credentials(), { kind: 'apiKey', value: 'key-of-a-test' });
      await vscode.commands.executeCommand('tributary.key.clear');
      assert.deepEqual(await parts.secrets.credentials(), before);
      assert.ok(!dialogs.said.join().includes('key-of-a-test'));
    } finally {
      dialogs.restore();
    }
  });
});
