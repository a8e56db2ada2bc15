import assert from 'node:assert/strict';
import { chmod, mkdir, rename, rm, symlink } from 'node:fs/promises';
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

const edited = file('a.txt', aByAgent);
const fails =
  (...args: string[]) =>
  (repo: TempRepo): Promise<void> =>
    assert.rejects(repo.git(...args));

/** A branch `other` whose `a.txt` and `clash.txt` differ from what `main` says of them. */
const twoBranches = all(
  git('checkout', '--quiet', '-b', 'other'),
  file('clash.txt', 'other\n'),
  git('add', 'clash.txt'),
  git('commit', '--quiet', '--message', 'other'),
  git('checkout', '--quiet', 'main'),
  file('clash.txt', 'main\n'),
  git('add', 'clash.txt'),
  git('commit', '--quiet', '--message', 'main'),
);

/** What the user's checkout holds on the paths an agent touches, and in which state it is. */
export const userStates: readonly RepositoryState[] = [
  {
    title: 'other lines of the same file are edited by the user',
    shape: shaped(file('a.txt', aByUser)),
    agent: edited,
    lands: { 'a.txt': aByBoth },
  },
  {
    title: 'the same line is edited by the user: a conflict',
    shape: shaped(file('a.txt', aText.replace('line 1\n', 'line 1, mine\n'))),
    agent: edited,
    end: { kind: 'conflicts', paths: ['a.txt'] },
  },
  {
    title: 'the same edit is the user’s already',
    onlyLong: true,
    shape: shaped(file('a.txt', aByAgent)),
    agent: all(edited, file('other.txt', 'other\n')),
    lands: { 'a.txt': 'as before' },
  },
  {
    title: 'the same file is staged by the user',
    onlyLong: true,
    shape: shaped(file('a.txt', aByUser), git('add', 'a.txt')),
    agent: edited,
    lands: { 'a.txt': aByBoth },
  },
  {
    title: 'the same file is staged, and edited again, by the user',
    onlyLong: true,
    shape: shaped(file('a.txt', 'nothing of before\n'), git('add', 'a.txt'), file('a.txt', aByUser)),
    agent: edited,
    lands: { 'a.txt': aByBoth },
  },
  {
    title: 'a deletion of the same file is staged by the user: a conflict',
    onlyLong: true,
    shape: shaped(git('rm', '--quiet', 'a.txt')),
    agent: edited,
    end: { kind: 'conflicts', paths: ['a.txt'] },
  },
  {
    title: 'the same deletion is the user’s already',
    onlyLong: true,
    shape: shaped(gone('a.txt')),
    agent: all(gone('a.txt'), file('other.txt', 'other\n')),
    lands: { 'a.txt': 'as before' },
  },
  {
    title: 'a file that the agent deletes is edited by the user: a conflict',
    onlyLong: true,
    shape: shaped(file('a.txt', aByUser)),
    agent: gone('a.txt'),
    end: { kind: 'conflicts', paths: ['a.txt'] },
  },
  {
    title: 'the file is taken out of the index, and kept, by the user',
    onlyLong: true,
    shape: shaped(git('rm', '--quiet', '--cached', 'a.txt'), file('a.txt', aByUser)),
    agent: edited,
    lands: { 'a.txt': aByBoth },
  },
  {
    title: 'an untracked file of the user stands where the agent made one: a conflict',
    shape: shaped(file('new/file.txt', 'mine\n')),
    end: { kind: 'conflicts', paths: ['new/file.txt'] },
  },
  {
    title: 'the same untracked file is the user’s already',
    onlyLong: true,
    shape: shaped(file('new/file.txt', 'new\n')),
    lands: { 'new/file.txt': 'as before' },
  },
  {
    title: 'an ignored file of the user stands where the agent made one: a conflict',
    agent: all(file('.gitignore', 'build/\n'), file('user.log', 'of the agent\n')),
    end: { kind: 'conflicts', paths: ['user.log'] },
  },
  {
    title: 'an ignored folder of the user stands where the agent made a file: a conflict',
    onlyLong: true,
    agent: all(file('.gitignore', '*.log\n'), file('build', 'a file\n')),
    end: { kind: 'conflicts', paths: ['build'] },
  },
  {
    title: 'an untracked folder of the user stands where the agent made a file: a conflict',
    onlyLong: true,
    shape: shaped(file('new/deep/mine.txt', 'mine\n')),
    agent: file('new', 'a file\n'),
    end: { kind: 'conflicts', paths: ['new'] },
  },
  {
    title: 'an untracked file of the user stands where the agent made a folder: a conflict',
    shape: shaped(file('new', 'mine\n')),
    end: { kind: 'conflicts', paths: ['new'] },
  },
  {
    title: 'a link of the user leads outside where the agent made a folder: a conflict',
    onlyLong: true,
    shape: shaped(async (repo) => {
      await mkdir(join(repo.folder, 'outside'));
      await symlink(join(repo.folder, 'outside'), join(repo.root, 'new'));
    }),
    end: { kind: 'conflicts', paths: ['new'] },
  },
  {
    title: 'an empty folder of the user stands where the agent made a file',
    shape: shaped((repo) => mkdir(join(repo.root, 'new'))),
    agent: all(file('new', 'a file\n'), edited),
  },
  {
    title: 'an untracked file of the user keeps a folder that the agent emptied',
    onlyLong: true,
    shape: shaped(file('dir/deep/mine.txt', 'mine\n')),
  },
  {
    title: 'an edit of other lines is hidden by skip-worktree',
    shape: shaped(git('update-index', '--skip-worktree', 'a.txt'), file('a.txt', aByUser)),
    agent: edited,
    lands: { 'a.txt': aByBoth },
  },
  {
    title: 'an edit of the same line is hidden by assume-unchanged: a conflict',
    shape: shaped(
      git('update-index', '--assume-unchanged', 'a.txt'),
      file('a.txt', aText.replace('line 1\n', 'line 1, mine\n')),
    ),
    agent: edited,
    end: { kind: 'conflicts', paths: ['a.txt'] },
  },
  {
    title: 'the user intends to add a file where the agent made one: a conflict',
    shape: shaped(file('new/file.txt', 'mine\n'), git('add', '--intent-to-add', 'new/file.txt')),
    end: { kind: 'conflicts', paths: ['new/file.txt'] },
  },
  {
    title: 'the user intends to add other files',
    onlyLong: true,
    shape: shaped(git('add', '--intent-to-add', 'untracked.md')),
  },
  {
    title: 'a merge is in progress, with a conflict',
    onlyLong: true,
    from: 'clean',
    shape: shaped(twoBranches, fails('merge', '--quiet', 'other')),
  },
  {
    title: 'a merge is in progress, with a conflict in the file that the agent edits',
    from: 'clean',
    shape: shaped(twoBranches, fails('merge', '--quiet', 'other')),
    agent: file('clash.txt', 'agent\n'),
    end: { kind: 'conflicts', paths: ['clash.txt'] },
  },
  {
    title: 'a rebase is in progress',
    from: 'clean',
    shape: shaped(twoBranches, fails('rebase', '--quiet', 'other')),
  },
  {
    title: 'a cherry-pick is in progress',
    onlyLong: true,
    from: 'clean',
    shape: shaped(twoBranches, fails('cherry-pick', 'other')),
  },
  {
    title: 'a revert is in progress',
    onlyLong: true,
    from: 'clean',
    shape: shaped(twoBranches, git('revert', '--no-commit', 'HEAD')),
  },
  {
    title: 'a bisection is in progress',
    onlyLong: true,
    from: 'clean',
    shape: shaped(twoBranches, git('bisect', 'start', 'HEAD', 'HEAD~1')),
  },
  {
    title: 'the user went over to another branch meanwhile',
    from: 'clean',
    shape: shaped(git('branch', 'elsewhere')),
    user: all(
      git('checkout', '--quiet', 'elsewhere'),
      file('a.txt', aByUser),
      git('commit', '--quiet', '--all', '--message', 'on'),
    ),
    agent: edited,
    lands: { 'a.txt': aByBoth },
  },
  {
    title: 'the user committed a rename of the file meanwhile',
    onlyLong: true,
    from: 'clean',
    user: all(git('mv', 'a.txt', 'moved.txt'), git('commit', '--quiet', '--message', 'moved')),
    agent: edited,
    lands: { 'a.txt': 'as before', 'moved.txt': aByAgent },
  },
  {
    title: 'files of the user are for nobody else, or read-only',
    shape: shaped(async (repo) => {
      await chmod(join(repo.root, 'a.txt'), 0o600);
      await chmod(join(repo.root, 'b.txt'), 0o444);
      await chmod(join(repo.root, 'dir', 'deep', 'd.txt'), 0o640);
    }),
  },
  {
    title: 'folders of the user are for nobody else, or read-only',
    shape: shaped(async (repo) => {
      await chmod(join(repo.root, 'dir', 'deep'), 0o700);
      await chmod(join(repo.root, 'dir'), 0o750);
    }),
  },
  {
    title: 'a repository of the user stands untracked inside',
    onlyLong: true,
    shape: shaped((repo) => another(repo, 'repo/nested')),
  },
  {
    title: 'a sparse checkout by folders leaves some out',
    from: 'clean',
    shape: shaped(git('sparse-checkout', 'set', '--cone', 'dir')),
    agent: all(file('a.txt', aByAgent), file('dir/new.txt', 'new\n'), file('left-out/new.txt', 'new\n')),
  },
  {
    title: 'a sparse checkout by patterns leaves out what the agent edits',
    onlyLong: true,
    from: 'clean',
    shape: shaped(git('sparse-checkout', 'set', '--no-cone', '/*', '!/dir/')),
    agent: all(file('a.txt', aByAgent), file('dir/c.txt', 'c, by the agent\n')),
  },
  {
    title: 'files stand where the file system says other rights than git does',
    onlyLong: true,
    shape: shaped(git('config', 'core.fileMode', 'false'), (repo) =>
      chmod(join(repo.root, 'mine.txt'), 0o755),
    ),
    agent: all(edited, gone('dir/deep/d.txt')),
  },
  {
    title: 'folders were moved into another by the user',
    from: 'clean',
    user: async (repo) => {
      await mkdir(join(repo.root, 'lib'));
      await rename(join(repo.root, 'dir'), join(repo.root, 'lib', 'dir'));
    },
    agent: all(edited),
  },
  {
    title: 'the index of the user is gone',
    onlyLong: true,
    shape: shaped((repo) => rm(join(repo.root, '.git', 'index'))),
  },
];
