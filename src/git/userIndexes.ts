import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandingPath } from '../model/landing';
import { type Checkout, locateCheckout, unlessMissing } from './checkouts';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { type IndexPlan, planIndex, writeIndex } from './userIndex';
import { sweepIndexLock } from './userIndexFile';

export interface IndexRequest {
  readonly changes: readonly LandingPath[];
  readonly to: 'before' | 'after';
  readonly directory: string;
  readonly leavesOthers?: boolean;
}

/** The index of the user's checkout, which only a Landing that makes commits writes. */
export interface UserIndexes {
  /** What becomes of it when HEAD goes from `head` to `tree`; nothing is written. */
  plan(checkout: string, move: { head: string; tree: string }): Promise<IndexPlan>;
  /** Keeps its bytes in the folder of a Landing. */
  keep(checkout: string, directory: string): Promise<void>;
  /**
   * Brings the changed entries to one side; back to `before` byte for byte where nothing else changed. Answers the
   * paths that are on neither side: then nothing was written. With `leavesOthers` these are left, and none answered.
   */
  write(checkout: string, request: IndexRequest): Promise<readonly string[]>;
  /** Removes the lock that a killed `write` left. Nobody else may be landing. */
  sweep(checkout: string, directory: string): Promise<void>;
}

export class GitUserIndexes implements UserIndexes {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
  }

  async plan(path: string, move: { head: string; tree: string }): Promise<IndexPlan> {
    return planIndex(this.git, await this.locate(path), move);
  }

  async keep(path: string, directory: string): Promise<void> {
    const { gitDir } = await this.locate(path);
    await copyFile(join(gitDir, 'index'), join(directory, kept)).catch(unlessMissing);
  }

  async write(path: string, { directory, ...request }: IndexRequest): Promise<readonly string[]> {
    const exact = request.to === 'before' ? { exact: join(directory, kept) } : {};
    const write = { ...request, next: join(directory, next), ...exact };
    return writeIndex(this.git, await this.locate(path), write);
  }

  async sweep(path: string, directory: string): Promise<void> {
    await sweepIndexLock(await this.locate(path), join(directory, next));
  }

  private locate(path: string): Promise<Checkout> {
    return locateCheckout(this.facts, path);
  }
}

const kept = 'index.before';
const next = 'index.next';
