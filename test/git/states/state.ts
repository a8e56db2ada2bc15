import { cp, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ErrorCode } from '../../../src/base/errors';
import { type FileSpec, gitAt, makeFolder, makeRepo, repoAt, type TempRepo } from '../support/tempRepo';

/** A state of a repository, what an agent does in its Worktree, and what comes of it. */
export interface RepositoryState {
  /** Goes on after `keeps every byte:`. */
  readonly title: string;
  /** `used` (default): a checkout with staged, unstaged, untracked, ignored and stashed work of its user. */
  readonly from?: 'used' | 'clean' | 'nothing';
  /** Makes the state; answers another checkout where that is the one that is opened. */
  readonly shape?: (repo: TempRepo) => Promise<TempRepo | undefined>;
  /** Folder below the checkout that is opened. */
  readonly opened?: string;
  /** What the agent does, as a script that no guard sees; default `usualWork`. */
  readonly agent?: (worktree: TempRepo, repo: TempRepo) => Promise<unknown>;
  /** What the user does before accepting. */
  readonly user?: (repo: TempRepo) => Promise<unknown>;
  /** Over the environment of the product. */
  readonly env?: (repo: TempRepo) => Readonly<Record<string, string>>;
  /** Default: all of it lands. */
  readonly end?: StateEnd;
  /** The paths of the ChangeSet, each after its status letter, where a plain `git add -A` would say otherwise. */
  readonly changes?: readonly string[];
  /** What stands in the checkout after accepting, where it is not just what the agent's file holds. */
  readonly lands?: Readonly<Record<string, FileSpec | 'absent' | 'as before'>>;
  /** Files outside its Worktree that the agent itself changes, below the folder of the repository. */
  readonly agentChanges?: RegExp;
  /** Left out of the short form of the tests. */
  readonly onlyLong?: true;
  /** What the short form of the tests looks at; default `landing`. */
  readonly short?: 'landing' | 'fate';
  /** Line endings or filters give a restored file other bytes than the agent wrote; its blob is the same. */
  readonly restoredByGit?: readonly string[];
}

export type StateEnd =
  | { readonly kind: 'lands' }
  | { readonly kind: 'conflicts'; readonly paths: readonly string[] }
  /** Start is refused. */
  | { readonly kind: 'refused'; readonly code: ErrorCode }
  /** Nothing differs from the base. */
  | { readonly kind: 'nothing' };

const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
export const aText = `${lines.join('\n')}\n`;
/** `a.txt` with its first line, as the agent, or its last one, as the user edits it. */
export const aByAgent = aText.replace('line 1\n', 'line 1, by the agent\n');
export const aByUser = aText.replace('line 12\n', 'line 12, by the user\n');
export const aByBoth = aByAgent.replace('line 12\n', 'line 12, by the user\n');

const files: Readonly<Record<string, FileSpec>> = {
  '.gitignore': '*.log\nbuild/\n',
  'a.txt': aText,
  'b.txt': 'b one\nb two\nb three\n',
  'dir/c.txt': 'c\n',
  'dir/deep/d.txt': 'd\n',
  'run.sh': { executable: '#!/bin/sh\n' },
  link: { link: 'a.txt' },
  'bin.dat': Buffer.from([0, 1, 2, 255, 13, 10, 0]),
  'crlf.txt': 'x\r\ny\r\n',
  'empty.txt': '',
  'noeol.txt': 'no newline',
  'mine.txt': 'mine\n',
  'staged.txt': 'staged\n',
  'both.txt': 'both\n',
};

/** An edit, a new file in a new folder, a deletion that empties a folder, a mode, ignored files. */
export async function usualWork(worktree: TempRepo): Promise<void> {
  await worktree.write('a.txt', aByAgent);
  await worktree.write('new/file.txt', 'new\n');
  await worktree.remove('dir/deep/d.txt');
  await worktree.write('b.txt', { executable: 'b one\nb two, by the agent\nb three\n' });
  await worktree.write('agent.log', 'ignored\n');
  await worktree.write('build/agent.o', Buffer.from([0, 9, 9]));
}

const templates = new Map<string, Promise<TempRepo>>();

/** A copy of a repository that was made once: `used` or `clean`, or none at all. */
export async function freshRepo(from: NonNullable<RepositoryState['from']>): Promise<TempRepo> {
  const folder = await makeFolder();
  const root = join(folder, 'repo');
  if (from === 'nothing') {
    await mkdir(root);
    return repoAt(folder, root);
  }
  let template = templates.get(from);
  template ??= from === 'used' ? makeUsed() : makeClean();
  templates.set(from, template);
  await cp((await template).root, root, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
  });
  return repoAt(folder, root);
}

/** The templates go with everything else that `cleanUp` removes. */
export function forgetTemplates(): void {
  templates.clear();
}

async function makeClean(): Promise<TempRepo> {
  return makeRepo({ files, initArgs: ['--template='] });
}

async function makeUsed(): Promise<TempRepo> {
  const repo = await makeClean();
  await repo.write('mine.txt', 'mine, put away\n');
  await repo.write('put-away.txt', 'untracked, put away\n');
  await repo.git('stash', 'push', '--quiet', '--include-untracked');
  await repo.write('staged.txt', 'staged by the user\n');
  await repo.write('both.txt', 'staged by the user\n');
  await repo.git('add', 'staged.txt', 'both.txt');
  await repo.write('both.txt', 'edited by the user\r\n');
  await repo.write('mine.txt', 'edited by the user');
  await repo.write('untracked.md', 'notes\n');
  await repo.write('user.log', 'ignored\n');
  await repo.write('build/out', 'ignored\n');
  return repo;
}

/** The repository under another name. */
export async function renamed(repo: TempRepo, name: string): Promise<TempRepo> {
  const root = join(repo.folder, name);
  await mkdir(join(root, '..'), { recursive: true });
  await rename(repo.root, root);
  return repoAt(repo.folder, root);
}

/** A linked worktree of the repository, beside it. */
export async function linked(repo: TempRepo, name: string, ...args: string[]): Promise<TempRepo> {
  const root = join(repo.folder, name);
  await repo.git('worktree', 'add', '--quiet', ...args, root);
  return repoAt(repo.folder, root);
}

/** A clone of the repository, beside it. */
export async function cloned(repo: TempRepo, name: string, ...args: string[]): Promise<TempRepo> {
  const root = join(repo.folder, name);
  await gitAt(repo.folder, 'clone', '--quiet', '--template=', ...args, `file://${repo.root}`, root);
  return repoAt(repo.folder, root);
}

/** A small repository of its own below `repo.folder`. */
export async function another(repo: TempRepo, name: string): Promise<TempRepo> {
  const root = join(repo.folder, name);
  await mkdir(root, { recursive: true });
  const made = repoAt(repo.folder, root);
  await made.git('init', '--quiet', '--initial-branch=main', '--template=');
  await made.write('inner.txt', `of ${basename(name)}\n`);
  await made.commitAll('inner');
  return made;
}

/** For states that only set something: `shape` that answers nothing. */
export function shaped(
  ...steps: Array<(repo: TempRepo) => Promise<unknown>>
): NonNullable<RepositoryState['shape']> {
  return async (repo) => {
    for (const step of steps) await step(repo);
    return undefined;
  };
}

export const git =
  (...args: string[]) =>
  (repo: TempRepo): Promise<unknown> =>
    repo.git(...args);

export const file =
  (path: string, content: FileSpec) =>
  (repo: TempRepo): Promise<unknown> =>
    repo.write(path, content);

export const gone =
  (...paths: string[]) =>
  async (repo: TempRepo): Promise<void> => {
    for (const path of paths) await repo.remove(path);
  };

/** Several steps, one after the other. */
export const all =
  (...steps: Array<(repo: TempRepo) => Promise<unknown>>) =>
  async (repo: TempRepo): Promise<void> => {
    for (const step of steps) await step(repo);
  };

/** Configures the repository. */
export const set =
  (settings: Readonly<Record<string, string>>) =>
  async (repo: TempRepo): Promise<void> => {
    for (const [key, value] of Object.entries(settings)) await repo.git('config', key, value);
  };

/** Commits a file of attributes. */
export const attributes = (text: string): ((repo: TempRepo) => Promise<unknown>) =>
  all(
    file('.gitattributes', text),
    git('add', '.gitattributes'),
    git('commit', '--quiet', '--message', 'attributes'),
  );
