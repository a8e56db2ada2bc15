import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, utimes } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePath } from '../../../src/git/parsers/pathBytes';
import type { FileChange } from '../../../src/model/changes';
import { testGitEnvironment } from '../support/tempRepo';

/** One path that differs between two trees: `A|M|D|T`, both modes and both blobs; the path in Latin-1. */
export interface RawLine {
  readonly path: string;
  readonly letter: string;
  readonly sides: string;
}

/** A ChangeSet as a plain `git diff --raw --no-renames` would list it. */
export function rawLinesOf(files: readonly FileChange[]): RawLine[] {
  const lines = files.flatMap((one) => {
    const path = latin1(one.path);
    if (one.oldPath === undefined) {
      const letter = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R', typeChanged: 'T' }[one.status];
      return [{ path, letter, sides: sidesOf(one.oldMode, one.newMode, one.oldBlob, one.newBlob) }];
    }
    const none = '0'.repeat(one.oldBlob.length);
    return [
      {
        path: latin1(one.oldPath),
        letter: 'D',
        sides: sidesOf(one.oldMode, '000000', one.oldBlob, none),
      },
      { path, letter: 'A', sides: sidesOf('000000', one.newMode, none, one.newBlob) },
    ];
  });
  return inOrder(lines);
}

/**
 * What a plain git says of a Worktree: `git add --all` into a copy of its index, objects elsewhere, and the raw
 * difference from the base.
 */
export async function askPlainGit(worktree: string, base: string): Promise<RawLine[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'tributary-oracle-'));
  try {
    const ask = async (what: string): Promise<string> =>
      (await plainGit(worktree, {}, 'rev-parse', '--path-format=absolute', what))
        .toString('utf8')
        .slice(0, -1);
    const [gitDir, commonDir] = [await ask('--git-dir'), await ask('--git-common-dir')];
    await copyFile(join(gitDir, 'index'), join(scratch, 'index'));
    // Older than every file: git looks at each.
    await utimes(join(scratch, 'index'), 1, 1);
    await mkdir(join(scratch, 'objects'));
    const env = {
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(commonDir, 'objects')),
    };
    const run = (...args: string[]): Promise<Buffer> => plainGit(worktree, env, ...args);
    await run('add', '--all', '--sparse');
    const tree = (await run('write-tree')).toString('latin1').trim();
    const raw = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', `${base}^{tree}`, tree];
    return parseRaw(await run(...raw));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The bytes of a path, as the product writes it, in Latin-1. */
export function latin1(path: string): string {
  return encodePath(path).toString('latin1');
}

/** A path for a list that colons separate: quoted, where it begins with a quote or holds what needs one. */
function quoted(path: string): string {
  return /["\n:]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path;
}

function parseRaw(output: Buffer): RawLine[] {
  const parts = output.toString('latin1').split('\0');
  const lines: RawLine[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', letter = ''] = (parts[at] ?? '')
      .slice(1)
      .split(' ');
    lines.push({ path: parts[at + 1] ?? '', letter, sides: sidesOf(oldMode, newMode, oldBlob, newBlob) });
  }
  return inOrder(lines);
}

function sidesOf(oldMode: string, newMode: string, oldBlob: string, newBlob: string): string {
  return [oldMode, newMode, oldBlob, newBlob].join(' ');
}

function inOrder(lines: readonly RawLine[]): RawLine[] {
  return [...lines].sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
}

/** git without hooks and without anything of ours. */
async function plainGit(
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Buffer> {
  const quiet = [
    '-c',
    `core.hooksPath=${devNull}`,
    '-c',
    'core.safecrlf=false',
    '-c',
    'core.fsmonitor=false',
  ];
  const child: ChildProcess = spawn('git', [...quiet, '-c', 'advice.addEmbeddedRepo=false', ...args], {
    cwd,
    env: { ...testGitEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`plain git ${args.join(' ')} ended with ${code}: ${said}`);
  return Buffer.concat(chunks);
}
