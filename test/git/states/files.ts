import { createHash } from 'node:crypto';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TempRepo } from '../support/tempRepo';
import {
  aByAgent,
  aByBoth,
  aByUser,
  all,
  another,
  aText,
  file,
  git,
  gone,
  type RepositoryState,
  shaped,
} from './state';

const moved =
  (from: string, to: string) =>
  async (repo: TempRepo): Promise<void> => {
    await mkdir(join(repo.root, to, '..'), { recursive: true });
    await rename(join(repo.root, from), join(repo.root, to));
  };

const linkTo =
  (path: string, target: string) =>
  async (repo: TempRepo): Promise<void> => {
    await rm(join(repo.root, path), { recursive: true, force: true });
    await mkdir(join(repo.root, path, '..'), { recursive: true });
    await symlink(target, join(repo.root, path));
  };

/** A name of bytes, some of which are no UTF-8. */
const rawFile =
  (name: Buffer, content: string) =>
  (repo: TempRepo): Promise<void> =>
    writeFile(Buffer.concat([Buffer.from(`${repo.root}/`), name]), content);

const noise = (bytes: number): Buffer => {
  const block = createHash('sha512').update('noise').digest();
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / block.length) }, () => block)).subarray(
    0,
    bytes,
  );
};

const manyFiles = async (repo: TempRepo): Promise<void> => {
  await mkdir(join(repo.root, 'many'));
  const names = Array.from({ length: 1_000 }, (_, index) => `${index}.txt`);
  await Promise.all(names.map((name) => writeFile(join(repo.root, 'many', name), `file ${name}\n`)));
  await repo.git('add', 'many');
  await repo.git('commit', '--quiet', '--message', 'many');
};

/** What an agent does to files. */
export const fileStates: readonly RepositoryState[] = [
  {
    title: 'links: new, dangling, to outside, absolute, to a folder',
    agent: all(
      linkTo('to-nothing', 'nowhere'),
      linkTo('to-outside', '../../outside'),
      linkTo('absolute', '/etc/hostname'),
      linkTo('to-folder', 'dir'),
      linkTo('deep/er/up', '../../a.txt'),
      linkTo('link', 'b.txt'),
    ),
  },
  {
    title: 'a link that becomes a file, and a file that becomes a link',
    onlyLong: true,
    agent: all(gone('link'), file('link', 'a file\n'), linkTo('b.txt', 'a.txt')),
  },
  {
    title: 'a folder that becomes a link, and a link that becomes a folder',
    agent: all(
      linkTo('dir', 'new'),
      file('new/c.txt', 'c2\n'),
      gone('link'),
      file('link/inner.txt', 'inner\n'),
    ),
  },
  {
    title: 'a file that becomes a folder, and a folder that becomes a file',
    onlyLong: true,
    agent: all(gone('a.txt', 'dir'), file('a.txt/inner/deep.txt', 'deep\n'), file('dir', 'a file\n')),
  },
  {
    title: 'modes: executable or not, and rights git does not know',
    agent: async (worktree) => {
      await chmod(join(worktree.root, 'a.txt'), 0o755);
      await chmod(join(worktree.root, 'run.sh'), 0o644);
      await worktree.write('private.txt', 'private\n');
      await chmod(join(worktree.root, 'private.txt'), 0o600);
      await worktree.write('half.sh', '#!/bin/sh\n');
      await chmod(join(worktree.root, 'half.sh'), 0o700);
    },
  },
  {
    title: 'read-only files and folders',
    agent: async (worktree) => {
      await worktree.write('locked/file.txt', 'locked\n');
      await worktree.write('locked/agent.log', 'ignored\n');
      await chmod(join(worktree.root, 'locked', 'file.txt'), 0o444);
      await chmod(join(worktree.root, 'locked'), 0o555);
      await chmod(join(worktree.root, 'dir', 'deep'), 0o555);
    },
    short: 'fate',
  },
  {
    title: 'empty files, files without a last newline, and one that loses or gets it',
    agent: all(
      file('nothing.txt', ''),
      file('a.txt', ''),
      file('empty.txt', 'no newline'),
      file('noeol.txt', 'no newline\n'),
      file('b.txt', 'b one\nb two\nb three'),
      file('blank.txt', '\n\n \n'),
    ),
  },
  {
    title: 'every file is deleted',
    onlyLong: true,
    from: 'clean',
    agent: git('rm', '--quiet', '-r', '.'),
  },
  {
    title: 'carriage returns, mixed line endings, byte order marks and zero bytes',
    agent: all(
      file('crlf.txt', 'x\r\nz\r\n'),
      file('mixed.txt', 'one\r\ntwo\nthree\rfour'),
      file('marked.txt', '\ufeffmarked\n'),
      file('bin.dat', Buffer.from([0, 255, 254, 10, 13, 10])),
      file('latin1.txt', Buffer.from('caf\xe9\n', 'latin1')),
      file('wide.txt', Buffer.from('\ufeffwide\n', 'utf16le')),
    ),
  },
  {
    title: 'a line of a million characters, and a file of five megabytes',
    onlyLong: true,
    agent: all(file('long.txt', `${'x'.repeat(1_000_000)}\n`), file('large.bin', noise(5_000_000))),
  },
  {
    title: 'renames',
    onlyLong: true,
    agent: all(moved('a.txt', 'moved.txt'), moved('dir/c.txt', 'elsewhere/c.txt')),
  },
  {
    title: 'a rename with an edit, of a file that the user edits',
    onlyLong: true,
    shape: shaped(file('a.txt', aByUser)),
    agent: all(moved('a.txt', 'new/folder/a.txt'), file('new/folder/a.txt', aByAgent)),
    lands: { 'new/folder/a.txt': aByBoth },
  },
  {
    title: 'a chain of renames, and two files that change places',
    onlyLong: true,
    agent: all(
      moved('a.txt', 'kept'),
      moved('b.txt', 'a.txt'),
      moved('crlf.txt', 'b.txt'),
      moved('kept', 'crlf.txt'),
    ),
  },
  {
    title: 'renames that differ only in case',
    agent: all(moved('a.txt', 'A.txt'), moved('dir', 'Dir')),
  },
  {
    title: 'a folder of a thousand files that moves into another',
    onlyLong: true,
    from: 'clean',
    shape: shaped(manyFiles),
    agent: moved('many', 'lib/many'),
  },
  {
    title: 'names with newlines, quotes, spaces, tabs, dashes, dots, globs and backslashes',
    agent: all(
      ...['new\nline', '"quoted"', "it's", ' blank ', 'tab\there', '-dash', '--force', 'dot.', '..dots'].map(
        (name) => file(name, `${name}\n`),
      ),
      ...[
        '*',
        '[a]',
        'a?',
        'back\\slash',
        ':(top)x',
        ':x',
        '!x',
        '#x',
        '@{u}',
        'HEAD',
        '~',
        '%s',
        '$HOME',
      ].map((name) => file(`odd/${name}`, `${name}\n`)),
    ),
  },
  {
    title: 'names that are not UTF-8',
    agent: all(
      rawFile(Buffer.from('caf\xe9', 'latin1'), 'one\n'),
      rawFile(Buffer.from([0x66, 0xff, 0xfe, 0x2e, 0x6c, 0x6f, 0x67]), 'ignored\n'),
      rawFile(Buffer.from('\xe9\n"x', 'latin1'), 'two\n'),
    ),
  },
  {
    title: 'names that are the same but for composed and decomposed letters',
    onlyLong: true,
    agent: all(
      file('\u00e9.txt', 'composed\n'),
      file('e\u0301.txt', 'decomposed\n'),
      file('\u{1f600}.txt', 'face\n'),
    ),
  },
  {
    title: 'a deletion of .gitignore, which shows what it hid',
    onlyLong: true,
    agent: all(file('agent.log', 'shown\n'), file('build/agent.o', 'shown\n'), gone('.gitignore')),
  },
  {
    title: 'an ignore rule that hides the agent’s own new files',
    agent: all(
      file('.gitignore', '*.log\nbuild/\nhidden/\n'),
      file('hidden/work.txt', 'work\n'),
      file('a.txt', aByAgent),
    ),
    short: 'fate',
  },
  {
    title: 'an ignore rule for a file that is tracked',
    onlyLong: true,
    agent: all(file('.gitignore', '*.log\nbuild/\na.txt\n'), file('a.txt', aByAgent)),
  },
  {
    title: 'ignored files that were added by force',
    agent: all(
      file('forced.log', 'forced\n'),
      git('add', '--force', 'forced.log'),
      file('loose.log', 'loose\n'),
    ),
    short: 'fate',
  },
  {
    title: 'only ignored files',
    onlyLong: true,
    agent: all(file('agent.log', 'ignored\n'), file('build/agent.o', 'ignored\n')),
    end: { kind: 'nothing' },
  },
  { title: 'nothing at all', onlyLong: true, agent: async () => undefined, end: { kind: 'nothing' } },
  {
    title: 'a change that was taken back',
    onlyLong: true,
    agent: all(file('a.txt', aByAgent), file('x.txt', 'x\n'), file('a.txt', aText), gone('x.txt')),
    end: { kind: 'nothing' },
  },
  {
    title: 'a repository that a tool left inside',
    agent: async (worktree) => {
      const app = await another(worktree, 'app-made-elsewhere');
      await app.write('.gitignore', 'node_modules/\n');
      await app.write('src/app.js', 'app\n');
      await app.write('node_modules/x.js', 'x\n');
      await rename(app.root, join(worktree.root, 'app'));
    },
    changes: ['A app/.gitignore', 'A app/inner.txt', 'A app/src/app.js'],
    short: 'fate',
  },
  {
    title: 'a repository that a tool left inside and the agent staged as a pointer',
    onlyLong: true,
    agent: async (worktree) => {
      const app = await another(worktree, 'app-made-elsewhere');
      await rename(app.root, join(worktree.root, 'app'));
      await worktree.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'app');
    },
    changes: ['A app/inner.txt'],
  },
  {
    title: 'empty folders, pipes and sockets',
    onlyLong: true,
    agent: all(
      async (worktree) =>
        void (await mkdir(join(worktree.root, 'nothing-in-it', 'deep'), { recursive: true })),
      file('a.txt', aByAgent),
    ),
  },
  {
    title: 'files named as git names its own',
    onlyLong: true,
    agent: all(
      file('.gitkeep', ''),
      file('git', 'git\n'),
      file('.github/x.yml', 'x\n'),
      file('HEAD', 'HEAD\n'),
    ),
  },
  {
    title: 'files on the names of our own',
    onlyLong: true,
    agent: all(file('tributary/x', 'x\n'), file('.tributary-1.tmp', 'x\n'), file('refs/heads/x', 'x\n')),
  },
];
