import { copyFile, link, lstat, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { TributaryError } from '../base/errors';
import { type Checkout, caseSettings, inCheckout, unlessMissing } from './checkouts';
import { type IndexEntry, setEntries } from './indexInfo';
import { parseSpecialEntries, type SpecialEntry } from './parsers/lsFiles';
import { fileAt, joinPaths } from './parsers/pathBytes';
import { type Differences, parseStatus } from './parsers/statusV2';
import { type Git, type GitCommand, type GitOutput, lineOf } from './plumbing';

// Submodules are not asked: git would start a git in each, which reads a configuration that agents can write.
const statusOptions = [
  '--porcelain=v2',
  '-z',
  '--untracked-files=all',
  '--no-renames',
  '--ignore-submodules=all',
];

/** How the folders of private indexes are called; the id of the process follows, so that it is known whose they are. */
export const temporaryPrefix = 'tributary-index-';

/** What `parseStatus` reads, whatever is configured. Writes nothing. */
export const statusCommand: Pick<GitCommand, 'args' | 'config'> = {
  args: ['status', ...statusOptions],
  config: ['status.showStash=false', 'status.branch=false'],
};

/** A private index of a checkout: git writes to it, the checkout's own index is only read. */
export class TemporaryIndex {
  readonly checkout: Checkout;
  readonly file: string;
  private readonly git: Git;
  private readonly config: readonly string[];
  private readonly signal: AbortSignal | undefined;

  constructor(deps: {
    git: Git;
    checkout: Checkout;
    file: string;
    config: readonly string[];
    signal: AbortSignal | undefined;
  }) {
    this.git = deps.git;
    this.checkout = deps.checkout;
    this.file = deps.file;
    this.config = deps.config;
    this.signal = deps.signal;
  }

  /** Runs git in the checkout on this index. */
  run(command: Omit<GitCommand, 'cwd' | 'signal'>): Promise<GitOutput> {
    const { cwd, env } = inCheckout(this.checkout, this.file);
    const config = [...this.config, ...(command.config ?? [])];
    return this.git({ ...command, cwd, env: { ...env, ...command.env }, config, signal: this.signal });
  }

  /** Copies what it holds now to `path`, where a new file takes the place of what stands there. */
  async copyTo(path: string): Promise<void> {
    const next = `${path}-${basename(dirname(this.file))}`;
    await copyIndex(this.file, next);
    await rename(next, path);
  }

  /** Puts it at `path` of the same disk; only for what is done with it. */
  moveTo(path: string): Promise<void> {
    return rename(this.file, path);
  }

  async writeTree(): Promise<string> {
    return lineOf(await this.run({ args: ['write-tree'] }));
  }

  /** How the files differ from the index, as far as its flags let git look. */
  async differences(): Promise<Differences> {
    return parseStatus((await this.run(statusCommand)).stdout);
  }

  /** Entries that hide edits, and gitlinks. */
  async specialEntries(): Promise<SpecialEntry[]> {
    return parseSpecialEntries((await this.run({ args: ['ls-files', '--stage', '-v', '-z'] })).stdout);
  }

  /** Files as they stand on disk; whatever is not there is removed. Ignore rules do not matter. */
  async record(paths: readonly string[]): Promise<void> {
    await this.update(['--add', '--remove', '--replace'], paths);
  }

  /** Entries only; nothing on disk. */
  async drop(paths: readonly string[]): Promise<void> {
    await this.update(['--force-remove'], paths);
  }

  /**
   * Takes the flags away that hide edits: all assume-unchanged ones, and skip-worktree where a file stands on
   * disk. What a sparse checkout left out stays hidden: it would look deleted.
   */
  async reveal(special: readonly SpecialEntry[]): Promise<void> {
    const assumed = special.filter((entry) => entry.isAssumedUnchanged).map((entry) => entry.path);
    const skipped = special.filter((entry) => entry.isSkipWorktree).map((entry) => entry.path);
    await this.update(['--no-assume-unchanged'], assumed);
    await this.update(['--no-skip-worktree'], await standingAmong(this.checkout.workTree, skipped));
  }

  private async update(options: readonly string[], paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    await this.run({ args: ['update-index', ...options, '-z', '--stdin'], input: joinPaths(paths) });
  }
}

/**
 * Calls `body` with a copy of the checkout's index, or of `from`, beside which it lies then (stat cache kept, so that unchanged files are not
 * read again), or with an empty one. Works while the real index is locked; the copy is always removed.
 */
export async function withTemporaryIndex<T>(
  deps: {
    git: Git;
    checkout: Checkout;
    signal?: AbortSignal | undefined;
    isEmpty?: boolean;
    from?: string;
  },
  body: (index: TemporaryIndex) => Promise<T>,
): Promise<T> {
  const place = deps.from === undefined ? tmpdir() : dirname(deps.from);
  const directory = await mkdtemp(join(place, `${temporaryPrefix}${process.pid}-`));
  try {
    const file = join(directory, 'index');
    if (deps.from !== undefined) await standIn(deps.from, file);
    else if (deps.isEmpty !== true) await copyIndex(join(deps.checkout.gitDir, 'index'), file);
    const config = await caseSettings(deps.checkout.workTree);
    const { git, checkout, signal } = deps;
    return await body(new TemporaryIndex({ git, checkout, file, config, signal }));
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The tree of `start` with other entries, each replacing whatever stands in its way; objects are written, no file. */
export async function treeWithEntries(
  deps: { git: Git; checkout: Checkout },
  start: string,
  entries: readonly IndexEntry[],
): Promise<string> {
  return withTemporaryIndex({ ...deps, isEmpty: true }, async (index) => {
    await index.run({ args: ['read-tree', `${start}^{tree}`], config: ['core.sparseCheckout=false'] });
    if (entries.length > 0) await index.run(setEntries(entries));
    return index.writeTree();
  });
}

/**
 * A second name for an index, which keeps what it stood for: git puts a new file in the place of the old one. Throws
 * `stale` when it is gone: an empty index would make every file look new.
 */
async function standIn(from: string, to: string): Promise<void> {
  const isLinked = await link(from, to).then(
    () => true,
    () => false,
  );
  if (!isLinked && !(await copyIndex(from, to)))
    throw new TributaryError('stale', `the index ${from} is gone`, { details: { path: from } });
}

/** A private copy whose age git judges as it would judge the original's; answers whether there was one. */
async function copyIndex(from: string, to: string): Promise<boolean> {
  const before = await stat(from).catch(unlessMissing);
  if (before === undefined) return false;
  await copyFile(from, to);
  // git reads a file again when it is as young as the index. The copy must not look younger than its source,
  // so it gets that second, rounded down: the stat was taken before the copy.
  const seconds = Math.floor(before.mtimeMs / 1000);
  await utimes(to, seconds, seconds);
  return true;
}

/** Those of `paths` where something stands on disk; folders that are missing are asked about once. */
async function standingAmong(root: string, paths: readonly string[]): Promise<string[]> {
  const folders = new Map<string, Promise<boolean>>();
  const hasFolder = (path: string): Promise<boolean> => {
    if (path === '') return Promise.resolve(true);
    const known = folders.get(path);
    if (known) return known;
    const asked = hasFolder(parentOf(path)).then((hasParent) => hasParent && isRealFolder(root, path));
    folders.set(path, asked);
    return asked;
  };
  const standing: string[] = [];
  for (const path of paths) {
    if (!(await hasFolder(parentOf(path)))) continue;
    if ((await lstat(fileAt(root, path)).catch(unlessMissing)) !== undefined) standing.push(path);
  }
  return standing;
}

async function isRealFolder(root: string, path: string): Promise<boolean> {
  return (await lstat(fileAt(root, path)).catch(unlessMissing))?.isDirectory() ?? false;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Whether a folder holds a `.git` of its own. */
export async function hasOwnGit(root: string, path: string): Promise<boolean> {
  const names = await readdir(fileAt(root, path)).catch(unlessMissing);
  return names?.includes('.git') ?? false;
}
