import * as vscode from 'vscode';
import { DisposableStack } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';

/** Whether the list of Tasks is seen, and what changes in the folders around it: what is made for eyes waits for them. */
export class SeenView implements vscode.Disposable {
  readonly onDidChange: Event<void>;
  /** A file of a workspace folder changed, whoever wrote it; those of git and of Worktrees do not count. */
  readonly onDidEdit: Event<void>;
  private readonly changed: Emitter<void>;
  private readonly edited: Emitter<void>;
  private readonly subscriptions = new DisposableStack();
  private view: vscode.TreeView<unknown> | undefined;

  constructor(deps: { readonly logger: Logger }) {
    this.changed = this.subscriptions.add(new Emitter<void>(deps.logger));
    this.edited = this.subscriptions.add(new Emitter<void>(deps.logger));
    this.onDidChange = this.changed.event;
    this.onDidEdit = this.edited.event;
    this.subscriptions.add(vscode.window.onDidChangeWindowState(() => this.changed.fire()));
    // The editor watches its folders anyway; a pattern without a base adds no watch of its own.
    const watcher = this.subscriptions.add(vscode.workspace.createFileSystemWatcher('**/*'));
    const onFile = (uri: vscode.Uri): void => {
      if (!/\/\.(git|worktrees)(\/|$)/.test(uri.path)) this.edited.fire();
    };
    for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete])
      this.subscriptions.add(event(onFile));
  }

  get isSeen(): boolean {
    return this.view?.visible === true && vscode.window.state.focused;
  }

  /** The view in question, once it is made. */
  look(view: vscode.TreeView<unknown>): void {
    this.view = view;
    this.subscriptions.add(view.onDidChangeVisibility(() => this.changed.fire()));
    this.changed.fire();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }
}
