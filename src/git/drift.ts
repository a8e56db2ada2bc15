import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { DriftChange } from '../model/alarm';
import { unlessMissing } from './checkouts';
import { stagedHash } from './parsers/indexFile';
import { decodePath } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { StampedFiles, stampedHash, stampedText } from './stampedFiles';

/** What commands of agents must leave alone, as it stood at one moment. */
export interface Surroundings {
  /** By checkout folder, linked worktrees included: the content of HEAD. */
  readonly heads: ReadonlyMap<string, string>;
  readonly looseRefs: ReadonlyMap<string, string>;
  /** The very same map as before while the file is. */
  readonly packedRefs: ReadonlyMap<string, string>;
  readonly stash: string;
  /** By checkout folder: a hash of what is staged. */
  readonly staged: ReadonlyMap<string, string>;
  readonly config: ReadonlyMap<string, string>;
  readonly hooks: ReadonlyMap<string, string>;
}

/** Whose changes are none of the user's. Worktrees by folder, branches as full ref names. */
export interface OwnNames {
  readonly worktrees: ReadonlySet<string>;
  readonly branches: ReadonlySet<string>;
}

/** Looks at what all worktrees of a repository share, and at the user's checkouts. Reads only. */
export interface Drift {
  /** Reads files, and no git process in the usual case. */
  look(): Promise<Surroundings>;
  /** What differs between two looks and belongs to nobody of ours; branches that are new apart. */
  compare(
    before: Surroundings,
    after: Surroundings,
    own: OwnNames,
  ): { readonly changes: readonly DriftChange[]; readonly newBranches: readonly string[] };
}

/** Refs of ours, and those that every worktree has for itself. */
const leftOutRefs = /^refs\/(tributary|bisect|worktree|rewritten)(\/|$)/;

export class GitDrift implements Drift {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly texts = stampedText();
  private readonly hashes = stampedHash();
  private readonly indexes: StampedFiles<string>;
  private readonly packed = new StampedFiles((path) => readFile(path, 'utf8').then(parsePackedRefs));
  private hooksFolder: Promise<string> | undefined;

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.indexes = new StampedFiles((path) => this.stagedIn(path));
  }

  async look(): Promise<Surroundings> {
    const { commonDir, gitDir, root, mainRoot } = this.facts;
    const linked = await this.linkedWorktrees();
    const checkouts = new Map([[commonDir, mainRoot ?? commonDir], ...linked]);
    const [heads, staged, refs, stash, config, hooks] = await Promise.all([
      this.valuesOf(
        this.texts,
        [...checkouts].map(([admin, folder]) => [folder, join(admin, 'HEAD')]),
      ),
      this.valuesOf(this.indexes, [
        [mainRoot ?? commonDir, join(commonDir, 'index')],
        [root, join(gitDir, 'index')],
      ]),
      this.refs(),
      this.stash(),
      this.config(checkouts),
      this.hooks(),
    ]);
    return { heads, staged, ...refs, stash, config, hooks };
  }

  compare(
    before: Surroundings,
    after: Surroundings,
    own: OwnNames,
  ): { readonly changes: readonly DriftChange[]; readonly newBranches: readonly string[] } {
    const isForeign = (folder: string): boolean => !own.worktrees.has(folder);
    const heads = differing(before.heads, after.heads).filter(isForeign);
    const refs = changedRefs(before, after).filter((name) => !own.branches.has(name));
    const isNew = (name: string): boolean =>
      name.startsWith('refs/heads/') && refOf(before, name) === undefined;
    const staged = differing(before.staged, after.staged).filter(isForeign);
    const config = differing(before.config, after.config);
    const changes: DriftChange[] = [
      ...heads.map((name) =>
        changeOf('head', name, headText(before.heads.get(name)), headText(after.heads.get(name))),
      ),
      ...refs
        .filter((name) => !isNew(name) && name !== 'refs/stash')
        .map((name) => changeOf('ref', name, refOf(before, name), refOf(after, name))),
      ...stashChange(before, after),
      ...staged.map((name) => changeOf('index', name)),
      ...config.map((name) => changeOf('config', name)),
      ...differing(before.hooks, after.hooks).map((name) => changeOf('hook', name)),
    ];
    return { changes, newBranches: refs.filter(isNew) };
  }

  /** Administration directories of linked worktrees, and the folders they say they are for. */
  private async linkedWorktrees(): Promise<Array<[string, string]>> {
    const folder = join(this.facts.commonDir, 'worktrees');
    const names = (await readdir(folder).catch(unlessMissing)) ?? [];
    const found = await Promise.all(
      names.map(async (name): Promise<[string, string] | undefined> => {
        const admin = join(folder, name);
        const target = await this.texts.at(join(admin, 'gitdir'));
        if (target === undefined) return undefined;
        const path = decodePath(Buffer.from(target.replace(/\n$/, ''), 'latin1'));
        return [admin, dirname(isAbsolute(path) ? path : resolve(admin, path))];
      }),
    );
    return found.filter((one) => one !== undefined);
  }

  private async valuesOf(
    files: StampedFiles<string>,
    paths: ReadonlyArray<readonly [string, string]>,
  ): Promise<Map<string, string>> {
    const values = new Map<string, string>();
    await Promise.all(
      paths.map(async ([name, path]) => {
        const value = await files.at(path);
        if (value !== undefined) values.set(name, value);
      }),
    );
    return values;
  }

  /** Loose ones first: `git pack-refs` writes the file before it removes them. */
  private async refs(): Promise<Pick<Surroundings, 'looseRefs' | 'packedRefs'>> {
    const { commonDir, root } = this.facts;
    if ((await lstat(join(commonDir, 'reftable')).catch(unlessMissing)) !== undefined) {
      const args = ['for-each-ref', '--format=%(objectname) %(refname)'];
      const listed = decodePath((await this.git({ cwd: root, args })).stdout);
      return { looseRefs: parsePackedRefs(listed), packedRefs: noRefs };
    }
    const paths = await filesBelow(join(commonDir, 'refs'), 'refs');
    const looseRefs = await this.valuesOf(
      this.texts,
      paths.map((name) => [name, join(commonDir, name)]),
    );
    for (const [name, value] of looseRefs) looseRefs.set(name, value.trimEnd());
    return { looseRefs, packedRefs: (await this.packed.at(join(commonDir, 'packed-refs'))) ?? noRefs };
  }

  /** Entries below the newest stand in the log only. */
  private async stash(): Promise<string> {
    return (await this.hashes.at(join(this.facts.commonDir, 'logs', 'refs', 'stash'))) ?? '';
  }

  private async config(checkouts: ReadonlyMap<string, string>): Promise<Map<string, string>> {
    const { commonDir } = this.facts;
    const shared = ['config', 'info/attributes', 'info/exclude'].map((name) => join(commonDir, name));
    const own = [...checkouts.keys()].map((admin) => join(admin, 'config.worktree'));
    return this.valuesOf(
      this.hashes,
      [...shared, ...own].map((path) => [path, path]),
    );
  }

  /** Those that git would run in the user's checkout. */
  private async hooks(): Promise<Map<string, string>> {
    this.hooksFolder ??= this.findHooks().catch(() => join(this.facts.commonDir, 'hooks'));
    const folder = await this.hooksFolder;
    const names = (await readdir(folder).catch(unlessMissing)) ?? [];
    const run = names.filter((name) => !name.endsWith('.sample')).map((name) => join(folder, name));
    return this.valuesOf(
      this.hashes,
      run.map((path) => [path, path]),
    );
  }

  private async findHooks(): Promise<string> {
    const { root, commonDir } = this.facts;
    // Ours is switched off, so git is asked for what is configured instead of where its hooks are.
    const args = ['config', '-z', '--type=path', '--get-all', 'core.hooksPath'];
    const { stdout } = await this.git({ cwd: root, args, okCodes: [0, 1] });
    // The last one is what we say ourselves.
    const configured = decodePath(stdout).split('\0').at(-3);
    return configured === undefined ? join(commonDir, 'hooks') : resolve(root, configured);
  }

  private async stagedIn(path: string): Promise<string> {
    const known = stagedHash(await readFile(path), this.facts.objectFormat);
    if (known !== undefined) return known;
    const { root } = this.facts;
    const env = { GIT_DIR: dirname(path), GIT_INDEX_FILE: path };
    const listed = await this.git({ cwd: root, args: ['ls-files', '--stage', '-z'], env });
    return createHash('sha256').update(listed.stdout).digest('hex');
  }
}

const noRefs: ReadonlyMap<string, string> = new Map();

/** Names of refs below a folder; lock files of a git at work are none. */
async function filesBelow(folder: string, prefix: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? [];
  const kept = entries.filter(
    ({ name }) => !name.endsWith('.lock') && !leftOutRefs.test(`${prefix}/${name}`),
  );
  const nested = kept.map(async (entry: Dirent): Promise<string[]> => {
    const [path, name] = [join(folder, entry.name), `${prefix}/${entry.name}`];
    return entry.isDirectory() ? filesBelow(path, name) : [name];
  });
  return (await Promise.all(nested)).flat();
}

function parsePackedRefs(text: string): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    const name = line.slice(space + 1);
    if (/^[#^]/.test(line) || space === -1 || leftOutRefs.test(name)) continue;
    refs.set(name, line.slice(0, space));
  }
  return refs;
}

function refOf({ looseRefs, packedRefs }: Surroundings, name: string): string | undefined {
  return looseRefs.get(name) ?? packedRefs.get(name);
}

function changedRefs(before: Surroundings, after: Surroundings): string[] {
  const names = new Set([...before.looseRefs.keys(), ...after.looseRefs.keys()]);
  if (before.packedRefs !== after.packedRefs) {
    for (const name of [...before.packedRefs.keys(), ...after.packedRefs.keys()]) names.add(name);
  }
  return [...names].filter((name) => refOf(before, name) !== refOf(after, name)).sort();
}

function stashChange(before: Surroundings, after: Surroundings): DriftChange[] {
  const [old, now] = [refOf(before, 'refs/stash'), refOf(after, 'refs/stash')];
  if (old === now && before.stash === after.stash) return [];
  return [changeOf('stash', 'refs/stash', old, now)];
}

function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}

function headText(content: string | undefined): string | undefined {
  return content?.trimEnd().replace(/^ref: /, '');
}

function changeOf(kind: DriftChange['kind'], name: string, before?: string, after?: string): DriftChange {
  return {
    kind,
    name,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}
