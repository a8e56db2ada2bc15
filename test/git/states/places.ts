import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitAt, repoAt, type TempRepo } from '../support/tempRepo';
import { another, cloned, git, linked, type RepositoryState, renamed, shaped } from './state';

/** Where the repository is, and how it is kept. */
export const placeStates: readonly RepositoryState[] = [
  { title: 'in a plain repository with work of its user' },
  {
    title: 'a branch without a commit is refused',
    from: 'nothing',
    shape: shaped(git('init', '--quiet'), (repo) => repo.write('a.txt', 'not committed\n')),
    end: { kind: 'refused', code: 'unbornBranch' },
  },
  {
    title: 'where core.worktree in the shared configuration would lead a Worktree to the checkout: refused',
    shape: async (repo) => {
      await repo.git('config', 'extensions.worktreeConfig', 'true');
      await repo.git('config', 'core.worktree', repo.root);
      return undefined;
    },
    end: { kind: 'refused', code: 'worktreeNotIsolated' },
  },
  { title: 'on a detached HEAD', shape: shaped(git('checkout', '--quiet', '--detach')) },
  { title: 'with a subfolder opened', opened: 'dir', onlyLong: true },
  { title: 'in a linked worktree', shape: (repo) => linked(repo, 'linked', '-b', 'side') },
  {
    title: 'in a detached linked worktree',
    onlyLong: true,
    shape: (repo) => linked(repo, 'linked', '--detach'),
  },
  {
    title: 'in the main worktree while a linked one stands beside it',
    onlyLong: true,
    shape: async (repo) => {
      const other = await linked(repo, 'other', '-b', 'side');
      await other.write('a.txt', 'other work\n');
      return undefined;
    },
  },
  {
    title: 'in a worktree of a bare repository',
    shape: async (repo) => {
      await cloned(repo, 'hub.git', '--bare');
      return linked(repoAt(repo.folder, join(repo.folder, 'hub.git')), 'main-tree');
    },
  },
  {
    title: 'in a worktree below the folder of a hidden bare repository',
    onlyLong: true,
    shape: async (repo) => {
      await cloned(repo, 'project/.bare', '--bare');
      await writeFile(join(repo.folder, 'project', '.git'), 'gitdir: ./.bare\n');
      return linked(repoAt(repo.folder, join(repo.folder, 'project')), 'project/main-tree');
    },
  },
  {
    title: 'in a checkout whose .git is a file',
    shape: shaped((repo) => repo.git('init', '--quiet', '--separate-git-dir', join(repo.folder, 'store'))),
  },
  {
    title: 'in a checkout reached through a link',
    onlyLong: true,
    shape: async (repo) => {
      await symlink(repo.root, join(repo.folder, 'short-cut'));
      return undefined;
    },
    opened: '../short-cut',
  },
  {
    title: 'at a path with spaces, quotes and letters beyond ASCII',
    onlyLong: true,
    shape: (repo) => renamed(repo, 'a "ü" \'b\' $c'),
  },
  { title: 'at a path with a newline', shape: (repo) => renamed(repo, 'one\ntwo') },
  { title: 'at a path that begins with a dash', onlyLong: true, shape: (repo) => renamed(repo, '-rf') },
  {
    title: 'in a submodule of another repository',
    shape: async (repo) => {
      const outer = await another(repo, 'outer');
      await outer.git('submodule', '--quiet', 'add', repo.root, 'sub');
      return repoAt(repo.folder, join(outer.root, 'sub'));
    },
  },
  { title: 'in a shallow clone', onlyLong: true, shape: (repo) => cloned(repo, 'shallow', '--depth=1') },
  {
    title: 'in a clone without the blobs of its history',
    onlyLong: true,
    shape: async (repo) => {
      await repo.git('config', 'uploadpack.allowFilter', 'true');
      await repo.git('commit', '--quiet', '--all', '--message', 'second');
      return cloned(repo, 'partial', '--filter=blob:none');
    },
  },
  {
    title: 'with objects borrowed from another repository',
    onlyLong: true,
    shape: async (repo) => {
      const root = join(repo.folder, 'borrower');
      await gitAt(repo.folder, 'clone', '--quiet', '--template=', '--shared', repo.root, root);
      return repoAt(repo.folder, root);
    },
  },
  {
    title: 'with a replaced commit',
    onlyLong: true,
    shape: shaped(async (repo) => {
      const tree = (await repo.git('rev-parse', 'HEAD^{tree}')).trim();
      const other = (await repo.git('commit-tree', '-m', 'replacement', tree)).trim();
      await repo.git('replace', 'HEAD', other);
    }),
  },
  {
    title: 'with grafts',
    onlyLong: true,
    shape: shaped(async (repo) => {
      const head = (await repo.git('rev-parse', 'HEAD')).trim();
      await mkdir(join(repo.root, '.git', 'info'), { recursive: true });
      await writeFile(join(repo.root, '.git', 'info', 'grafts'), `${head}\n`);
    }),
  },
  {
    title: 'with packed references and objects',
    onlyLong: true,
    shape: shaped(git('gc', '--quiet'), git('pack-refs', '--all')),
  },
  {
    title: 'in a repository of SHA-256 objects',
    from: 'nothing',
    shape: shaped(sha256Repository),
  },
  {
    title: 'with the configuration of each worktree in its own file',
    onlyLong: true,
    shape: shaped(
      git('config', 'extensions.worktreeConfig', 'true'),
      git('config', '--worktree', 'user.name', 'W'),
    ),
  },
  {
    title: 'with an index of version 4',
    onlyLong: true,
    shape: shaped(git('update-index', '--index-version', '4')),
  },
  { title: 'with a split index', onlyLong: true, shape: shaped(git('update-index', '--split-index')) },
  {
    title: 'with an untracked cache',
    onlyLong: true,
    shape: shaped(git('update-index', '--force-untracked-cache')),
  },
  {
    title: 'beside a worktree of the user on a drive that is not there',
    shape: shaped(async (repo) => {
      await linked(repo, 'drive/theirs', '-b', 'theirs');
      await rename(join(repo.folder, 'drive'), join(repo.folder, 'unmounted'));
    }),
  },
  {
    title: 'beside a worktree whose administration is broken',
    onlyLong: true,
    shape: shaped(async (repo) => {
      await linked(repo, 'theirs', '-b', 'theirs');
      await rm(join(repo.root, '.git', 'worktrees', 'theirs', 'gitdir'));
    }),
  },
  { title: 'where a branch is called tributary', shape: shaped(git('branch', 'tributary')) },
  {
    title: 'without reflogs',
    onlyLong: true,
    shape: shaped(git('config', 'core.logAllRefUpdates', 'false'), (repo) =>
      rm(join(repo.root, '.git', 'logs', 'HEAD')),
    ),
  },
  {
    title: 'with an own exclude file',
    onlyLong: true,
    shape: shaped(async (repo) => {
      await mkdir(join(repo.root, '.git', 'info'), { recursive: true });
      await appendFile(join(repo.root, '.git', 'info', 'exclude'), 'secret*\n');
      await repo.write('secret.txt', 'secret\n');
    }),
    agent: async (worktree) => {
      await worktree.write('secret.txt', 'of the agent\n');
      await worktree.write('open.txt', 'open\n');
    },
  },
];

async function sha256Repository(repo: TempRepo): Promise<void> {
  await repo.git('init', '--quiet', '--object-format=sha256', '--initial-branch=main', '--template=');
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}\n`);
  await repo.write('a.txt', lines.join(''));
  await repo.write('b.txt', 'b one\nb two\nb three\n');
  await repo.write('dir/deep/d.txt', 'd\n');
  await repo.write('.gitignore', '*.log\nbuild/\n');
  await repo.commitAll('first');
  await repo.write('mine.txt', 'untracked\n');
}
