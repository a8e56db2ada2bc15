import type { Base } from '../model/packet';
import { caseSettings, inCheckout, locateCheckout } from './checkouts';
import { zeroName } from './objectNames';
import { nameDiffOf } from './parsers/diffTree';
import { splitBytes, splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { commitTree } from './snapshots';
import { statusCommand } from './temporaryIndex';
import { treeOfCheckout } from './workTreeState';

/**
 * What the opened checkout holds beyond HEAD: staged, unstaged and untracked files, not ignored ones. Files, index,
 * stash and refs of the user are only read.
 */
export interface Uncommitted {
  /** How many files differ from HEAD, as a first look has it; renames count twice. */
  count(signal?: AbortSignal): Promise<number>;
  /**
   * `head`, or, where something is uncommitted, a commit of ours on top of it that holds what stands in the
   * checkout. No ref names it yet: see `keep`.
   */
  baseOn(head: Base, signal?: AbortSignal): Promise<Base>;
  /** Keeps such a commit for a Task, under `refs/tributary/<taskId>/base`. */
  keep(taskId: string, commit: string): Promise<void>;
}

export class GitUncommitted implements Uncommitted {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
  }

  async count(signal?: AbortSignal): Promise<number> {
    const checkout = await locateCheckout(this.facts, this.facts.root);
    const config = [...(await caseSettings(checkout.workTree)), ...(statusCommand.config ?? [])];
    const output = await this.git({ ...inCheckout(checkout), args: statusCommand.args, config, signal });
    return splitBytes(output.stdout).length;
  }

  async baseOn(head: Base, signal?: AbortSignal): Promise<Base> {
    const checkout = await locateCheckout(this.facts, this.facts.root);
    const tree = await treeOfCheckout(this.git, checkout, signal);
    const place = { ...inCheckout(checkout), signal };
    const output = await this.git({ ...place, args: nameDiffOf(`${head.commit}^{tree}`, tree) });
    const files = splitPaths(output.stdout).length;
    if (files === 0) return head;
    const commit = await commitTree(this.git, place, { tree, parents: [head.commit], message });
    return { ...head, commit, uncommitted: { on: head.commit, files } };
  }

  async keep(taskId: string, commit: string): Promise<void> {
    const args = ['update-ref', `refs/tributary/${taskId}/base`, commit, zeroName(commit)];
    await this.git({ cwd: this.facts.root, args });
  }
}

const message = `Tributary: uncommitted changes of the checkout

What was staged, unstaged and untracked there when a Task began.
`;
