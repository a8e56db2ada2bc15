import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Parts } from '../../src/compose';
import type { LiveBoard } from '../../src/editor/liveBoard';
import type { TreeNode } from '../../src/editor/treeNodes';
import type { Task } from '../../src/model/task';

/** What the sample's offline model knows how to do. */
export const demoObjective = 'Fix the duration parser: 1h30m must be 5400 seconds';

/** The parts of the very extension that runs in this editor. */
export async function extensionParts(): Promise<Parts> {
  const extension = vscode.extensions.getExtension<Parts | undefined>('tributary.tributary');
  assert.ok(extension, 'the extension is loaded');
  const parts = await extension.activate();
  assert.ok(parts, 'in a test the extension gives its parts');
  return parts;
}

export function checkoutFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'a folder is open');
  return folder.uri.fsPath;
}

/** The board of the open folder's repository; its core is loaded. */
export async function board({ boards }: Parts): Promise<LiveBoard> {
  if (!boards.isSearched) await boards.refresh();
  const [place] = boards.repositories;
  assert.ok(place, 'the folder is a repository');
  return boards.ensure(place.commonDir);
}

/** Resolves once `isSo` holds; looked at whenever `event` fires. */
export async function when(
  event: (listener: () => void) => { dispose(): void },
  isSo: () => boolean,
): Promise<void> {
  if (isSo()) return;
  await new Promise<void>((resolve) => {
    const subscription = event(() => {
      if (!isSo()) return;
      subscription.dispose();
      resolve();
    });
  });
}

/** The same for what tells of nothing: looked at every 50 ms, until the test's own time is up. */
export async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Starts the demo's Task by the command, as the palette would after the last answer; answers it when all of it is over. */
export async function runTask(
  parts: Parts,
  options: { readonly checks?: readonly string[] } = {},
): Promise<Task> {
  const live = await board(parts);
  const before = new Set(live.tasks.map(({ id }) => id));
  const given = { objective: demoObjective, agent: 'general', base: 'HEAD', checks: options.checks ?? [] };
  await vscode.commands.executeCommand('tributary.task.new', given);
  const fresh = (): Task | undefined => live.tasks.find(({ id }) => !before.has(id));
  await when(parts.boards.onDidChange, () => fresh() !== undefined);
  await eventually(() => isOver(live, fresh()));
  const task = fresh();
  assert.ok(task);
  return task;
}

function isOver(live: LiveBoard, task: Task | undefined): boolean {
  return task !== undefined && task.runs.length > 0 && !live.isBusy(task.id);
}

export function taskNow(parts: Parts, task: Task): Task {
  const found = parts.boards.find(task.id);
  assert.ok(found);
  return found.task;
}

/** The rows of the tree as texts, children indented. */
export function treeText({ tree }: Pick<Parts, 'tree'>, parent?: TreeNode, indent = ''): string[] {
  return tree.getChildren(parent).flatMap((node) => {
    const item = tree.getTreeItem(node);
    const row = `${indent}${labelOf(item)} | ${String(item.description)}`;
    return [row, ...treeText({ tree }, node, `${indent}  `)];
  });
}

export function labelOf(item: vscode.TreeItem): string {
  return typeof item.label === 'string' ? item.label : (item.label?.label ?? '');
}

/** Dialogs that a test answers in the user's place; what was said is kept. */
export function answering(parts: Parts): {
  readonly said: string[];
  readonly asked: {
    readonly message: string;
    readonly detail: string;
    readonly actions: readonly string[];
  }[];
  /** The actions to choose, in order, of questions and messages alike; when used up, they are left. */
  readonly choose: string[];
  readonly type: string[];
  restore(): void;
} {
  const before = { ...parts.dialogs };
  const said: string[] = [];
  const asked: { message: string; detail: string; actions: readonly string[] }[] = [];
  const choose: string[] = [];
  const type: string[] = [];
  const chosen = (actions: readonly string[]): string | undefined => {
    const [next] = choose;
    if (next === undefined || !actions.includes(next)) return undefined;
    return choose.shift();
  };
  parts.dialogs.say = async (_tone, message, ...actions) => {
    said.push(message);
    return chosen(actions);
  };
  parts.dialogs.decide = async (message, detail, ...actions) => {
    asked.push({ message, detail, actions });
    return chosen(actions);
  };
  parts.dialogs.ask = async () => {
    const value = type.shift();
    return value === undefined ? { kind: 'left' } : { kind: 'given', value };
  };
  return { said, asked, choose, type, restore: () => Object.assign(parts.dialogs, before) };
}
