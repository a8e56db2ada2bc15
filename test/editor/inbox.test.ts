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
    await eventually(() => /1 waiting for you/.test(parts.view.badge?.tooltip ?? ''));
    await vscode.commands.executeCommand('tributary.question.allow', { questionId: question?.id });
    await eventually(() => parts.inbox.pending[0]?.id !== question?.id);
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
    await vscode.commands.executeCommand('tributary.consent.allowCommands');
    assert.ok(!parts.consent.isGiven(live.id), 'asked and left');
    dialogs.choose.push('Allow');
    await vscode.commands.executeCommand('tributary.consent.allowCommands');
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
