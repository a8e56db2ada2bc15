import type { ChangeSet } from '../model/changes';
import { parseChanges } from './parsers/diffTree';
import { isPlainText } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';

/** What differs between a commit or tree and a tree, whatever the user's configuration says. */
export interface Changes {
  /** Renames detected; submodules as their commits; binaries marked. */
  changeSet(base: string, tree: string): Promise<ChangeSet>;
  /** A patch that `git apply --binary` can apply, as bytes; one path only when given. */
  patch(base: string, tree: string, path?: string): Promise<Buffer>;
}

/** Whatever `diff.*` says, this is what a difference looks like. */
export const fixedDiff: readonly string[] = [
  'diff-tree',
  '-r',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
  '--submodule=short',
  '--diff-algorithm=myers',
  '--no-relative',
];

const patchOptions: readonly string[] = [
  '--patch',
  '--binary',
  '--full-index',
  // A rename as a deletion and an addition: applies wherever the old file stands.
  '--no-renames',
  '--unified=3',
  '--inter-hunk-context=0',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

export class GitChanges implements Changes {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
  }

  async changeSet(base: string, tree: string): Promise<ChangeSet> {
    const args = [
      ...fixedDiff,
      '-z',
      '--raw',
      '--no-abbrev',
      '--numstat',
      '-M',
      '-l1000',
      '--end-of-options',
    ];
    const output = await this.git({ cwd: this.facts.root, args: [...args, base, tree, '--'] });
    return { base, tree, files: parseChanges(output.stdout) };
  }

  async patch(base: string, tree: string, path?: string): Promise<Buffer> {
    const args = [...fixedDiff, ...patchOptions, '--end-of-options', base, tree, '--'];
    const output = await this.git({
      cwd: this.facts.root,
      ...limitedTo(path),
      args: [...args, ...pathArgument(path)],
    });
    return output.stdout;
  }
}

/** An argument is text: a byte of a name that is not UTF-8 is matched by `?`, the rest literally. */
function pathArgument(path: string | undefined): string[] {
  if (path === undefined) return [];
  if (isPlainText(path)) return [path];
  return [path.replace(/[*?[\]\\]/g, '\\$&').replace(/[\udc80-\udcff]/gu, '?')];
}

/** Pathspecs are literal in our git; a pattern has to be allowed for the one command. */
function limitedTo(path: string | undefined): { env?: Record<string, string> } {
  if (path === undefined || isPlainText(path)) return {};
  return { env: { GIT_LITERAL_PATHSPECS: '0', GIT_GLOB_PATHSPECS: '1' } };
}
