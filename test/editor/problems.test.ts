import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { answering, board, checkoutFolder, demoObjective, eventually, extensionParts } from './parts';

describe('a damaged file of the board', () => {
  it('is said once, with a button that opens the log', async () => {
    const parts = await extensionParts();
    const live = await board(parts);
    const dialogs = answering(parts);
    dialogs.choose.push('Show Log');
    const said = (): string[] => dialogs.said.filter((text) => text.includes('board.json'));
    const damageAndStart = async (): Promise<void> => {
      const records = join(checkoutFolder(), '.git', 'tributary');
      await mkdir(records, { recursive: true });
      await writeFile(join(records, 'board.json'), '{ half a fi');
      const given = { objective: demoObjective, agent: 'explore', base: 'HEAD', checks: [] };
      await vscode.commands.executeCommand('tributary.task.new', given);
      await eventually(() => !live.core.tasks.isBusy());
    };
    try {
      await damageAndStart();
      await eventually(() => said().length > 0);
      assert.match(said()[0] ?? '', /^board\.json, in which Tributary keeps its Tasks, is damaged\./);
      await eventually(() => vscode.window.visibleTextEditors.some(isLog));
      await damageAndStart();
      assert.equal(said().length, 1);
    } finally {
      dialogs.restore();
      await vscode.commands.executeCommand('workbench.action.closePanel');
    }
  });
});

function isLog({ document }: vscode.TextEditor): boolean {
  return document.uri.scheme === 'output' && document.uri.path.includes('Tributary');
}
