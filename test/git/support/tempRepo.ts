import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

// The product passes these two on from the environment, so its git is as isolated as ours.
process.env['GIT_CONFIG_GLOBAL'] = devNull;
process.env['GIT_CONFIG_NOSYSTEM'] = '1';

/** A file to write: text, bytes, a symlink, or text with the executable bit. */
export type FileSpec = string | Buffer | { readonly link: string } | { readonly executable: string };

export interface TempRepo {
  /** The temporary folder that holds the repository (and its siblings, such as `<name>.worktrees`). */
  readonly folder: string;
  /** Top level of the main worktree. */
  readonly root: string;
  /** Runs git there and answers stdout, whole; throws with stderr when it fails. */
  git(...args: string[]): Promise<string>;
  gitBytes(...args: string[]): Promise<Buffer>;
  write(path: string, content: FileSpec): Promise<void>;
  read(path: string): Promise<string>;
  remove(path: string): Promise<void>;
  /** Stages everything, commits, answers the commit. */
  commitAll(message?: string): Promise<string>;
  dispose(): Promise<void>;
}

export interface MakeRepo {
  /** Committed as the first commit; without it (or with `{}`) the first commit is empty. */
  readonly files?: Readonly<Record<string, FileSpec>>;
  /** Folder name of the repository; default `repo`. */
  readonly name?: string;
  /** No first commit: an unborn branch. */
  readonly unborn?: boolean;
  readonly initArgs?: readonly string[];
}

const made = new Set<string>();

/** A fresh, real temporary folder; `cleanUp` removes it. */
export async function makeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tributary-test-')));
  made.add(folder);
  return folder;
}

/** Removes everything `makeFolder` and `makeRepo` made; give it to `after` or `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const folder of made) await removeTree(folder);
  made.clear();
}

/** A repository on branch `main` with a fixed identity, isolated from the configuration of the machine. */
export async function makeRepo(options: MakeRepo = {}): Promise<TempRepo> {
  const folder = await makeFolder();
  const root = join(folder, options.name ?? 'repo');
  await mkdir(root, { recursive: true });
  await gitAt(root, 'init', '--quiet', '--initial-branch=main', ...(options.initArgs ?? []));
  const repo = repoAt(folder, root);
  for (const [path, content] of Object.entries(options.files ?? {})) await repo.write(path, content);
  if (options.unborn !== true) await repo.commitAll('first');
  return repo;
}

/** A copy of a repository beside none of its worktrees, with an index that knows the copied files. */
export async function copyOf({ root: original }: TempRepo): Promise<TempRepo> {
  const folder = await makeFolder();
  const root = join(folder, basename(original));
  await cp(original, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  await gitAt(root, 'update-index', '-q', '--refresh');
  return repoAt(folder, root);
}

/** The same handle for a folder that is already a repository or a worktree. */
export function repoAt(folder: string, root: string): TempRepo {
  const gitBytes = (...args: string[]): Promise<Buffer> => gitAt(root, ...args);
  const git = async (...args: string[]): Promise<string> => (await gitBytes(...args)).toString('utf8');
  return {
    folder,
    root,
    git,
    gitBytes,
    write: (path, content) => writeSpec(join(root, path), content),
    read: (path) => readFile(join(root, path), 'utf8'),
    remove: (path) => rm(join(root, path), { recursive: true }),
    commitAll: async (message = 'change') => {
      await git('add', '--all', '--force');
      await git('commit', '--quiet', '--allow-empty', '--message', message);
      return (await git('rev-parse', 'HEAD')).trim();
    },
    dispose: async () => {
      await removeTree(folder);
      made.delete(folder);
    },
  };
}

/** Environment of git in tests: nothing of the machine's configuration, a fixed identity and date. */
export function testGitEnvironment(): Record<string, string> {
  const date = '2024-01-02T03:04:05Z';
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? tmpdir(),
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada Tester',
    GIT_AUTHOR_EMAIL: 'ada@example.invalid',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: 'Ada Tester',
    GIT_COMMITTER_EMAIL: 'ada@example.invalid',
    GIT_COMMITTER_DATE: date,
    // Submodules of test repositories are local folders.
    GIT_ALLOW_PROTOCOL: 'file',
  };
}

/** Runs git at `cwd` as a user would; answers stdout's bytes. */
export async function gitAt(cwd: string, ...args: string[]): Promise<Buffer> {
  const child = spawn('git', args, { cwd, env: testGitEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const [code, stdout, stderr] = await Promise.all([
    exitOf(child),
    bytesOf(child.stdout),
    bytesOf(child.stderr),
  ]);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr.toString('utf8')}`);
  return stdout;
}

/**
 * Everything of a checkout that only landing may touch: index bytes, HEAD, refs outside `refs/tributary/`,
 * stash, configuration, status and every file. Two equal values mean that nothing was touched.
 */
export async function fingerprint(root: string): Promise<Record<string, string>> {
  // Status first and with locks off: it must not refresh the index it is compared with.
  const git = async (...args: string[]): Promise<string> =>
    (await gitAt(root, '--no-optional-locks', ...args)).toString('latin1');
  const gitDir = (await git('rev-parse', '--absolute-git-dir')).replace(/\n$/, '');
  const commonDir = (await git('rev-parse', '--path-format=absolute', '--git-common-dir')).replace(/\n$/, '');
  const refs = await git('for-each-ref', '--format=%(refname) %(objectname)');
  return {
    status: await git('status', '--porcelain=v2', '-z', '--branch', '--show-stash', '--ignored'),
    head: await optional(join(gitDir, 'HEAD')),
    index: await optional(join(gitDir, 'index')),
    config: await optional(join(commonDir, 'config')),
    exclude: await optional(join(commonDir, 'info', 'exclude')),
    stash: await optional(join(commonDir, 'logs', 'refs', 'stash')),
    refs: refs
      .split('\n')
      .filter((line) => !line.startsWith('refs/tributary/'))
      .join('\n'),
    files: await listing(root),
  };
}

/** Every file below `root` except `.git`: kind, mode, content; names and content as Latin-1. */
export async function listing(root: string): Promise<string> {
  return (await linesOf(Buffer.from(root), '')).join('\n');
}

async function linesOf(folder: Buffer, relative: string): Promise<string[]> {
  const lines: string[] = [];
  const names = await readdir(folder, { encoding: 'buffer' });
  for (const name of names.sort(Buffer.compare)) {
    if (name.toString('latin1') === '.git') continue;
    const path = Buffer.concat([folder, Buffer.from('/'), name]);
    const shown = join(relative, name.toString('latin1'));
    const stats = await lstat(path);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isDirectory()) lines.push(`${shown}/`, ...(await linesOf(path, shown)));
    else if (stats.isFile()) lines.push(`${shown} ${mode} ${await readFile(path, 'latin1')}`);
    else if (stats.isSymbolicLink()) lines.push(`${shown} -> ${await readlink(path, 'latin1')}`);
    else lines.push(`${shown} special`);
  }
  return lines;
}

/** A name no other test uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

async function writeSpec(path: string, content: FileSpec): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (typeof content === 'string' || Buffer.isBuffer(content)) {
    await writeFile(path, content);
  } else if ('link' in content) {
    await rm(path, { force: true });
    await symlink(content.link, path);
  } else {
    await writeFile(path, content.executable);
    await chmod(path, 0o755);
  }
}

async function optional(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => '(none)');
}

async function removeTree(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function bytesOf(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
