import * as vscode from 'vscode';
import { DisposableStack } from '../../base/disposable';
import type { WindowBoards } from '../boards';
import { taskFileAt } from './taskFiles';

/** Says in a context key whether the editor that has the cursor shows a file of a Task: menus and keys ask for it. */
export class TaskFileKey implements vscode.Disposable {
  private readonly boards: WindowBoards;
  private readonly subscriptions = new DisposableStack();
  private isSet: boolean | undefined;

  constructor(boards: WindowBoards) {
    this.boards = boards;
    this.subscriptions.add(vscode.window.onDidChangeActiveTextEditor(() => this.look()));
    this.subscriptions.add(boards.onDidChange(() => this.look()));
    this.look();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private look(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const isSet = uri !== undefined && taskFileAt(this.boards, uri) !== undefined;
    if (isSet === this.isSet) return;
    this.isSet = isSet;
    void vscode.commands.executeCommand('setContext', 'tributary.isTaskFile', isSet);
  }
}
