import { TributaryError } from '../base/errors';
import type { Base } from '../model/packet';
import { parseBatchedBlobs } from './parsers/batch';
import { decodePath, encodePath, splitPaths } from './parsers/pathBytes';
import { parseRefs } from './parsers/refs';
import { isAtLeast, parseGitVersion, parseRevParse, revParseSeparator } from './parsers/revParse';
import { type Git, type GitDeps, lineOf, makeGit } from './plumbing';

/** Where a repository is; every path absolute and real (symlinks resolved). */
export interface RepositoryFacts {
  /** Top level of the checkout that was opened. */
  readonly root: string;
  /** `git rev-parse --git-common-dir`: one per repository, whatever worktree was opened. */
  readonly commonDir: string;
  readonly gitDir: string;
  /** Top level of the main worktree; absent for a bare repository. */
  readonly mainRoot?: string;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly gitVersion: string;
}

/**
 * Opens repositories and resolves what a user names.
 * `open` throws `gitMissing`, `gitTooOld` (below 2.38), `notARepository`.
 */
export interface Repositories {
  open(directory: string, signal?: AbortSignal): Promise<RepositoryFacts>;
}

/** Questions about one repository; reads only, with optional locks off. */
export interface Repository {
  readonly facts: RepositoryFacts;
  /** HEAD of the opened checkout. Throws `unbornBranch`. */
  head(signal?: AbortSignal): Promise<{ commit: string; ref?: string }>;
  /** `ref` (default `HEAD`) as a commit, with how far it is behind its upstream. Throws `unknownBase`, `unbornBranch`. */
  resolveBase(ref?: string, signal?: AbortSignal): Promise<Base>;
  /** The tree of a commit. */
  treeOf(commit: string): Promise<string>;
  /** The bytes of a file in a commit or tree; `undefined` when there is none. */
  readFile(treeish: string, path: string): Promise<Buffer | undefined>;
  /** The same for several paths without newlines, in their order, by one git. */
  readFiles(treeish: string, paths: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  /** Every path in a commit or tree. */
  listFiles(treeish: string): Promise<readonly string[]>;
  /** Branches, remote branches and tags that name a commit, newest commit first. */
  listRefs(): Promise<readonly RefChoice[]>;
  /** First line of a commit's message. */
  subjectOf(commit: string): Promise<string>;
  /** A full ref name (`refs/heads/...`) to its commit; `undefined` when it does not exist. */
  resolveRef(ref: string): Promise<string | undefined>;
}

/** A reference as git lists it. */
export interface RefChoice {
  readonly kind: 'branch' | 'remote' | 'tag';
  readonly ref: string;
  readonly commit: string;
  readonly subject: string;
}

/** What opens repositories; asks git only when told to. */
export function createRepositories(deps: GitDeps): Repositories {
  return new GitRepositories({ git: makeGit(deps) });
}

/** Older ones have no `merge-tree --write-tree`. */
const minimumVersion = '2.38';

export class GitRepositories implements Repositories {
  private readonly git: Git;

  constructor(deps: { git: Git }) {
    this.git = deps.git;
  }

  async open(directory: string, signal?: AbortSignal): Promise<RepositoryFacts> {
    // Both at once: every start of the program waits for this.
    const [version, found] = await Promise.allSettled([
      this.version(directory, signal),
      this.discover(directory, signal),
    ]);
    if (version.status === 'rejected') throw asNotARepository(version.reason, directory);
    if (!isAtLeast(version.value, minimumVersion)) {
      throw new TributaryError('gitTooOld', `git ${version.value} is too old, ${minimumVersion} is needed`, {
        details: { version: version.value, minimum: minimumVersion },
      });
    }
    if (found.status === 'rejected') throw asNotARepository(found.reason, directory);
    const { root, commonDir, gitDir, objectFormat } = found.value;
    const mainRoot = gitDir === commonDir ? root : await this.mainRootOf(commonDir, signal);
    const facts = { root, commonDir, gitDir, objectFormat, gitVersion: version.value };
    return mainRoot === undefined ? facts : { ...facts, mainRoot };
  }

  private async version(directory: string, signal?: AbortSignal): Promise<string> {
    const said = lineOf(await this.git({ cwd: directory, args: ['version'], signal }));
    const version = parseGitVersion(said);
    if (version === undefined) throw new TributaryError('gitMissing', `this is not git: ${said}`);
    return version;
  }

  /** Everything `open` needs in one command. Throws `notARepository` with the reason in `details`. */
  private async discover(directory: string, signal?: AbortSignal): Promise<Discovered> {
    const asked = ['--is-inside-git-dir', '--is-bare-repository', '--show-object-format', '--git-common-dir'];
    // The top level comes last: without a work tree git prints the others and then fails.
    const args = [...asked, '--absolute-git-dir', '--show-toplevel'].flatMap((one) => [
      one,
      revParseSeparator,
    ]);
    const output = await this.git({
      cwd: directory,
      args: ['rev-parse', '--path-format=absolute', ...args],
      okCodes: [0, 128],
      signal,
    });
    const [isInside, isBare, format, commonDir, gitDir, root] = parseRevParse(output.stdout);
    if (commonDir === undefined || gitDir === undefined) throw notARepository(directory, output.stderr);
    if (output.exitCode !== 0 || !root) {
      throw withoutWorkTree(directory, isInside === 'true' && isBare !== 'true' ? 'insideGitDir' : 'bare');
    }
    return { root, commonDir, gitDir, objectFormat: format === 'sha256' ? 'sha256' : 'sha1' };
  }

  /** The main worktree of the repository behind a linked one, if it has one. */
  private async mainRootOf(commonDir: string, signal?: AbortSignal): Promise<string | undefined> {
    // A submodule's git directory names its work tree; any other main worktree holds its git directory.
    for (const cwd of [commonDir, commonDir.replace(/\/[^/]*$/, '') || '/']) {
      const found = await this.discover(cwd, signal).catch((error: unknown) => {
        if (error instanceof TributaryError && error.code === 'notARepository') return undefined;
        throw error;
      });
      if (found?.gitDir === commonDir) return found.root;
    }
    return undefined;
  }
}

interface Discovered {
  readonly root: string;
  readonly commonDir: string;
  readonly gitDir: string;
  readonly objectFormat: 'sha1' | 'sha256';
}

function notARepository(directory: string, stderr: string): TributaryError {
  const isForeign = stderr.includes('dubious ownership');
  return new TributaryError(
    'notARepository',
    isForeign
      ? `git does not trust ${directory}: it belongs to another user (see git's safe.directory)`
      : `${directory} is not in a git repository`,
    { details: { path: directory, reason: isForeign ? 'dubiousOwnership' : 'none', stderr } },
  );
}

function withoutWorkTree(directory: string, reason: 'insideGitDir' | 'bare'): TributaryError {
  const message =
    reason === 'bare'
      ? `${directory} is a bare repository: open one of its worktrees`
      : `${directory} is inside a git directory: open the checkout itself`;
  return new TributaryError('notARepository', message, { details: { path: directory, reason } });
}

/** A folder that is not there is no repository either. */
function asNotARepository(error: unknown, directory: string): unknown {
  if (!(error instanceof TributaryError) || error.code !== 'worktreeMissing') return error;
  return new TributaryError('notARepository', `there is no folder ${directory}`, {
    cause: error,
    details: { path: directory, reason: 'missing' },
  });
}

export class GitRepository implements Repository {
  readonly facts: RepositoryFacts;
  private readonly git: Git;
  /** Trees of commits, by full name: they never change. */
  private readonly trees = new Map<string, string>();

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.facts = deps.facts;
    this.git = deps.git;
  }

  async head(signal?: AbortSignal): Promise<{ commit: string; ref?: string }> {
    const args = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
    const [commit, ref] = await Promise.all([
      this.ask(args, signal),
      this.ask(['symbolic-ref', '--quiet', 'HEAD'], signal),
    ]);
    if (commit === undefined) throw this.withoutCommit(ref);
    return ref === undefined ? { commit } : { commit, ref };
  }

  async resolveBase(ref = 'HEAD', signal?: AbortSignal): Promise<Base> {
    // A leading colon would be a search or an index entry; a dash an option.
    if (/^(-|:|$)/.test(ref) || /[\0\n]/.test(ref)) throw unknownBase(ref);
    const found = await this.commitAndUpstream(ref, signal);
    if (found === undefined) {
      if (ref === 'HEAD') await this.head(signal);
      throw unknownBase(ref);
    }
    const { commit, upstream } = found;
    const behind = upstream === undefined ? undefined : await this.countBetween(commit, upstream, signal);
    return behind === undefined ? { ref, commit } : { ref, commit, behind };
  }

  async treeOf(commit: string): Promise<string> {
    const known = this.trees.get(commit);
    if (known !== undefined) return known;
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`];
    const tree = await this.ask(args);
    if (tree === undefined) throw unknownBase(commit);
    if (isObjectName(commit)) this.trees.set(commit, tree);
    return tree;
  }

  async readFile(treeish: string, path: string): Promise<Buffer | undefined> {
    return (await this.readFiles(treeish, [path]))[0];
  }

  async readFiles(treeish: string, paths: readonly string[]): Promise<readonly (Buffer | undefined)[]> {
    const output = await this.git({
      cwd: this.facts.root,
      args: ['cat-file', '--batch', '-z'],
      input: encodePath(paths.map((path) => `${treeish}:${path}\0`).join('')),
    });
    return parseBatchedBlobs(output.stdout, paths.length);
  }

  async listFiles(treeish: string): Promise<readonly string[]> {
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', treeish];
    return splitPaths((await this.git({ cwd: this.facts.root, args })).stdout);
  }

  async listRefs(): Promise<readonly RefChoice[]> {
    // A tag's own object is followed to what it names; a subject is one line and holds no NUL.
    const format = ['%(refname)', '%(objecttype)', '%(objectname)', '%(*objecttype)', '%(*objectname)'];
    const args = [
      'for-each-ref',
      '--sort=-committerdate',
      `--format=${[...format, '%(contents:subject)'].join('%00')}`,
    ];
    const output = await this.git({
      cwd: this.facts.root,
      args: [...args, 'refs/heads', 'refs/remotes', 'refs/tags'],
    });
    return parseRefs(output.stdout.toString('utf8'));
  }

  async subjectOf(commit: string): Promise<string> {
    const args = ['log', '-1', '--no-show-signature', '--format=%s', '--end-of-options', commit];
    return (await this.ask(args)) ?? '';
  }

  async resolveRef(ref: string): Promise<string | undefined> {
    if (!ref.startsWith('refs/')) throw new TributaryError('internal', `${ref} is no full ref name`);
    return this.ask(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]);
  }

  /** The commit that `ref` names and, where it is a branch with one, its upstream's; the tree is kept for `treeOf`. */
  private async commitAndUpstream(
    ref: string,
    signal?: AbortSignal,
  ): Promise<{ commit: string; upstream?: string } | undefined> {
    // The upstream comes last: without one git answers the others and then fails.
    const asked = [
      `${ref}^{commit}`,
      `${ref}^{tree}`,
      `${ref.replace(/^refs\/heads\//, '')}@{upstream}^{commit}`,
    ];
    const output = await this.git({
      cwd: this.facts.root,
      args: ['cat-file', '--batch-check=%(objectname)', '-z'],
      input: encodePath(asked.map((one) => `${one}\0`).join('')),
      okCodes: [0, 128],
      signal,
    });
    const [commit = '', tree = '', upstream = ''] = decodePath(output.stdout).split('\n');
    if (!isObjectName(commit)) return undefined;
    if (isObjectName(tree)) this.trees.set(commit, tree);
    return isObjectName(upstream) ? { commit, upstream } : { commit };
  }

  /** Commits that `to` has and `from` has not. */
  private async countBetween(from: string, to: string, signal?: AbortSignal): Promise<number | undefined> {
    if (from === to) return 0;
    const count = await this.ask(['rev-list', '--count', `${from}..${to}`, '--'], signal);
    return count === undefined ? undefined : Number(count);
  }

  /** One line of output, or `undefined` when git's answer is no. */
  private async ask(args: readonly string[], signal?: AbortSignal): Promise<string | undefined> {
    const output = await this.git({ cwd: this.facts.root, args, okCodes: [0, 1, 128], signal });
    return output.exitCode === 0 ? lineOf(output) : undefined;
  }

  /** Why HEAD is no commit: a branch without one, or a broken repository. */
  private withoutCommit(ref: string | undefined): TributaryError {
    if (ref === undefined) return new TributaryError('gitFailed', 'HEAD names no commit that is there');
    return new TributaryError('unbornBranch', `${ref} has no commit yet: make the first one`, {
      details: { ref },
    });
  }
}

function isObjectName(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

function unknownBase(ref: string): TributaryError {
  return new TributaryError('unknownBase', `${JSON.stringify(ref)} names no commit here`, {
    details: { ref },
  });
}
