import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import type { Parts } from '../../src/compose';
import type { LiveBoard } from '../../src/editor/liveBoard';
import type { TreeNode } from '../../src/editor/treeNodes';
import { isLive } from '../../src/tasks/runMachine';
import { board, eventually, extensionParts } from './parts';
import { reportMark } from './support/reportMark';
import { streamerKey, streamerVariable } from './support/streamer';

const count = 10;
const settings: Readonly<Record<string, unknown>> = {
  'model.provider': 'anthropic',
  'model.baseUrl': process.env[streamerVariable],
  'model.main': 'a-model',
  'verify.when': 'never',
};

describe('ten Runs that stream at once', function () {
  this.timeout(180_000);
  let parts: Parts;
  let live: LiveBoard;

  before(async () => {
    parts = await extensionParts();
    live = await board(parts);
    await eventually(() => !live.core.tasks.isBusy());
    await parts.secrets.setKey(streamerKey);
    await change(settings);
  });

  after(async () => {
    await eventually(() => !live.core.tasks.isBusy());
    for (const task of live.tasks)
      if (task.state === 'open') await live.core.tasks.discard(task.id).catch(() => undefined);
    await parts.secrets.clearKey();
    await change(Object.fromEntries(Object.keys(settings).map((key) => [key, undefined])));
  });

  async function change(values: Readonly<Record<string, unknown>>): Promise<void> {
    const own = vscode.workspace.getConfiguration('tributary');
    for (const [key, value] of Object.entries(values))
      await own.update(key, value, vscode.ConfigurationTarget.Global);
  }

  it('refresh only rows that look different, four times a second at most, and leave the host free', async () => {
    const before = new Set(live.tasks.map(({ id }) => id));
    const fresh = () => live.tasks.filter(({ id }) => !before.has(id));
    await vscode.commands.executeCommand('tributary.tasks.focus');
    const fires = watchTree(parts);
    const startedAt = performance.now();
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    for (let index = 1; index <= count; index += 1) {
      const given = { objective: `Write note ${index}`, agent: 'general', base: 'HEAD', checks: [] };
      await vscode.commands.executeCommand('tributary.task.new', given);
    }
    let together = 0;
    await eventually(() => {
      const running = fresh().filter((task) => task.runs.some(isLive)).length;
      together = Math.max(together, running);
      return fresh().length === count && !live.core.tasks.isBusy();
    });
    delay.disable();
    fires.dispose();
    assert.equal(together, count);
    for (const task of fresh()) assert.equal(task.runs.at(-1)?.status.state, 'completed', task.slug);
    assert.deepEqual(fires.problems, []);
    assert.ok(fires.count > count);
    const most = (performance.now() - startedAt) / 250 + 1;
    assert.ok(fires.count <= most, `${fires.count} refreshes, no more than ${most} were allowed`);
    const ms = (nanoseconds: number): number => Math.round(nanoseconds / 1e6);
    console.log(
      `${reportMark}      event loop: p99 ${ms(delay.percentile(99))} ms, max ${ms(delay.max)} ms; ` +
        `${fires.count} refreshes of ${fires.rows} rows`,
    );
  });
});

/** Listens to what the editor is told of the tree, and to what it then asks for and so shows. */
function watchTree({ tree }: Pick<Parts, 'tree'>) {
  const shown = new Map<string, string>();
  const found = { count: 0, rows: 0, problems: [] as string[] };
  const { getTreeItem, getChildren } = tree;
  const looksOf = (node: TreeNode): string => {
    const { label, description, icon, context } = tree.rowOf(node);
    const children = getChildren.call(tree, node).map(({ key }) => key);
    return JSON.stringify([label, description, icon.id, icon.color?.id, context, children]);
  };
  tree.getTreeItem = (node) => {
    shown.set(node.key, looksOf(node));
    return getTreeItem.call(tree, node);
  };
  const subscription = tree.onDidChangeTreeData((nodes) => {
    found.count += 1;
    for (const node of nodes ?? []) {
      const looks = looksOf(node);
      if (shown.get(node.key) === looks) found.problems.push(`refreshed though shown so: ${looks}`);
      found.rows += 1;
    }
  });
  const dispose = (): void => {
    subscription.dispose();
    tree.getTreeItem = getTreeItem;
  };
  return Object.assign(found, { dispose });
}
