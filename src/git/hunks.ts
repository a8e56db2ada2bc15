import { createHash } from 'node:crypto';
import { TributaryError } from '../base/errors';
import type { FileChange } from '../model/changes';
import type { FileHunks, Hunk } from '../model/hunks';
import type { LandingSelection } from '../model/landing';
import { type Changes, fixedDiff } from './changes';
import { absentMode } from './parsers/diffTree';
import { type PatchHunk, parsePatch } from './parsers/patch';
import { encodePath } from './parsers/pathBytes';
import { writePartialTree } from './partialTree';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';

/** A hunk with the bytes of both sides. */
export type SourceHunk = Hunk & Pick<PatchHunk, 'old' | 'new'>;
export type SourceFile = FileChange & { readonly hunks: readonly SourceHunk[] };

/** The hunks of what a Task changed, and trees that hold some of them. Objects are written, nothing else. */
export interface Hunks {
  /**
   * Files that differ between two commits or trees, with their hunks. A rename, a link, a binary, a submodule, an
   * empty file and a change of nothing but the mode have none: they change as a whole.
   */
  list(base: string, tree: string): Promise<readonly FileHunks[]>;
  /**
   * The tree of `landed` (default: `base`) with the selected part of base..theirs. What `landed` changed already
   * stays, except where the selection changes the same lines or files. Throws `unknownId` for what is no part of
   * base..theirs.
   */
  treeOf(request: {
    base: string;
    landed?: string | undefined;
    theirs: string;
    selection: LandingSelection;
  }): Promise<string>;
}

/** A hunk is a hunk wherever `diff.*` would draw its borders. */
const hunkOptions: readonly string[] = [
  '-z',
  '--raw',
  '--no-abbrev',
  '--patch',
  '--full-index',
  '--no-renames',
  '--unified=0',
  '--inter-hunk-context=0',
  '--indent-heuristic',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

export class GitHunks implements Hunks {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly changes: Pick<Changes, 'changeSet'>;

  constructor(deps: { git: Git; facts: RepositoryFacts; changes: Pick<Changes, 'changeSet'> }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.changes = deps.changes;
  }

  async list(base: string, tree: string): Promise<readonly FileHunks[]> {
    return (await this.sources(base, tree)).map(({ hunks, ...file }) => ({
      ...file,
      hunks: hunks.map(({ old: _old, new: _new, ...hunk }) => hunk),
    }));
  }

  async treeOf({ base, landed, theirs, selection }: Parameters<Hunks['treeOf']>[0]): Promise<string> {
    const [wanted, standing] = await Promise.all([
      this.sources(base, theirs),
      landed === undefined ? [] : this.sources(base, landed),
    ]);
    refuseUnknown(wanted, selection);
    const request = { start: landed ?? base, wanted, standing, selection };
    return writePartialTree(this.git, this.facts, request);
  }

  /** Files and the bytes of their hunks. */
  private async sources(base: string, tree: string): Promise<readonly SourceFile[]> {
    const args = [...fixedDiff, ...hunkOptions, '--end-of-options', base, tree, '--'];
    const [{ files }, output] = await Promise.all([
      this.changes.changeSet(base, tree),
      this.git({ cwd: this.facts.root, args }),
    ]);
    const patch = parsePatch(output.stdout);
    return files.map((file) => ({
      ...file,
      hunks: isDivisible(file) ? (patch.get(file.path) ?? []).map((hunk) => sourceHunk(file.path, hunk)) : [],
    }));
  }
}

const fileModes = [absentMode, '100644', '100755'];

/** Whether parts of it make sense: text on both sides, under one name. */
function isDivisible({ status, oldMode, newMode, isBinary }: FileChange): boolean {
  return status !== 'renamed' && !isBinary && fileModes.includes(oldMode) && fileModes.includes(newMode);
}

function sourceHunk(path: string, hunk: PatchHunk): SourceHunk {
  return { ...hunk, id: idOf(path, hunk), path, firstLine: firstLineOf(hunk) };
}

/** A Task's base never moves, so a place in it is the same place in every later tree. */
function idOf(path: string, { oldStart, oldLines, old, new: added }: PatchHunk): string {
  const hash = createHash('sha256');
  hash.update(encodePath(path)).update(`\0${oldStart} ${oldLines} ${old.length}\0`);
  return hash.update(old).update(added).digest('hex').slice(0, 16);
}

const longestFirstLine = 200;

function firstLineOf({ old, new: added }: PatchHunk): string {
  const [sign, side] = added.length > 0 ? ['+', added] : ['-', old];
  const end = side.indexOf(0x0a);
  return `${sign}${side.subarray(0, end === -1 ? longestFirstLine : Math.min(end, longestFirstLine)).toString('utf8')}`;
}

/** A selection of what is not there is a mistake, or made on a tree that went by. */
function refuseUnknown(files: readonly SourceFile[], { paths, modes = [], hunks }: LandingSelection): void {
  const known = new Set(files.map((file) => file.path));
  const ids = new Set(files.flatMap((file) => file.hunks.map((hunk) => hunk.id)));
  const path = [...paths, ...modes].find((one) => !known.has(one));
  if (path !== undefined) throw unknown(`the Task changes no file ${JSON.stringify(path)}`, path);
  const id = hunks.find((one) => !ids.has(one));
  if (id !== undefined) throw unknown(`the Task has no hunk ${id}, or has it no more`, id);
}

function unknown(message: string, text: string): TributaryError {
  return new TributaryError('unknownId', message, { details: { text } });
}
