import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TempRepo } from '../support/tempRepo';
import { aByAgent, all, aText, attributes, file, type RepositoryState, set, shaped } from './state';

/** A program that leaves a trace outside the Worktree when it runs, and passes its input on. */
const trap = async (repo: TempRepo): Promise<string> => {
  const path = join(repo.folder, 'trap.sh');
  await writeFile(path, `#!/bin/sh\necho ran "$@" >>'${repo.folder}/trapped'\ncat\n`);
  await chmod(path, 0o755);
  return path;
};

const trapped =
  (settings: Readonly<Record<string, (path: string) => string>>) =>
  async (repo: TempRepo): Promise<void> => {
    const path = await trap(repo);
    const values = Object.entries(settings).map(([key, value]) => [key, value(path)] as const);
    await set(Object.fromEntries(values))(repo);
  };

/** What else is configured, where a program of the user or an agent could run or files could be missed. */
export const settingStates: readonly RepositoryState[] = [
  {
    title: 'hooks in a folder of the user',
    shape: shaped(async (repo) => {
      await mkdir(join(repo.folder, 'hooks'));
      for (const name of ['post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change']) {
        await writeFile(
          join(repo.folder, 'hooks', name),
          `#!/bin/sh\necho ${name} >>'${repo.folder}/trapped'\n`,
        );
        await chmod(join(repo.folder, 'hooks', name), 0o755);
      }
      await repo.git('config', 'core.hooksPath', join(repo.folder, 'hooks'));
    }),
  },
  {
    title: 'hooks that fail',
    onlyLong: true,
    shape: shaped(async (repo) => {
      await mkdir(join(repo.root, '.git', 'hooks'), { recursive: true });
      for (const name of ['post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change']) {
        await writeFile(join(repo.root, '.git', 'hooks', name), '#!/bin/sh\nexit 1\n');
        await chmod(join(repo.root, '.git', 'hooks', name), 0o755);
      }
    }),
  },
  {
    title:
      'a file system monitor, external differences, text conversion, pagers, editors, ssh and signing programs',
    shape: shaped(
      trapped({
        'core.fsmonitor': (path) => path,
        'diff.external': (path) => path,
        'diff.trap.textconv': (path) => path,
        'diff.trap.command': (path) => path,
        'core.pager': (path) => path,
        'core.editor': (path) => path,
        'core.sshCommand': (path) => path,
        'gpg.program': (path) => path,
        'core.askPass': (path) => path,
        'credential.helper': (path) => `!${path}`,
        'alias.status': (path) => `!${path}`,
        'alias.worktree': (path) => `!${path}`,
        'alias.diff': (path) => `!${path}`,
        'core.alternateRefsCommand': (path) => path,
      }),
      attributes('*.txt diff=trap\n'),
      (repo) => writeFile(join(repo.folder, 'trapped'), ''),
    ),
  },
  {
    title: 'variables of git in the environment that lead elsewhere',
    env: (repo) => ({
      GIT_DIR: join(repo.folder, 'elsewhere'),
      GIT_WORK_TREE: join(repo.folder, 'elsewhere'),
      GIT_INDEX_FILE: join(repo.folder, 'elsewhere-index'),
      GIT_OBJECT_DIRECTORY: join(repo.folder, 'elsewhere-objects'),
      GIT_NAMESPACE: 'elsewhere',
      GIT_PREFIX: 'elsewhere/',
      GIT_CEILING_DIRECTORIES: repo.folder,
      GIT_LITERAL_PATHSPECS: '0',
      GIT_EXTERNAL_DIFF: 'false',
      GIT_ICASE_PATHSPECS: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.worktree',
      GIT_CONFIG_VALUE_0: repo.folder,
    }),
  },
  {
    title: 'settings that hide files or change how they are listed',
    shape: shaped(
      set({
        'status.showUntrackedFiles': 'no',
        'status.relativePaths': 'true',
        'status.short': 'true',
        'core.quotePath': 'true',
        'color.ui': 'always',
        'column.ui': 'always',
        'diff.noprefix': 'true',
        'diff.mnemonicPrefix': 'true',
        'diff.renames': 'copies',
        'diff.ignoreSubmodules': 'all',
        'diff.relative': 'true',
        'core.abbrev': '4',
        'log.showSignature': 'true',
        'apply.whitespace': 'fix',
        'core.whitespace': 'trailing-space,tab-in-indent',
        'i18n.commitEncoding': 'latin1',
        'merge.conflictStyle': 'diff3',
        'merge.renames': 'false',
      }),
    ),
  },
  {
    title: 'settings of large repositories',
    onlyLong: true,
    shape: shaped(
      set({
        'feature.manyFiles': 'true',
        'core.splitIndex': 'true',
        'core.bigFileThreshold': '1k',
        'core.preloadIndex': 'true',
        'index.threads': 'true',
        'gc.auto': '1',
        'maintenance.auto': 'true',
        'checkout.workers': '2',
      }),
    ),
  },
  {
    title: 'core.fileMode=false and a mode that the agent changes',
    onlyLong: true,
    shape: shaped(set({ 'core.fileMode': 'false' })),
    agent: all(file('a.txt', aByAgent), file('new.sh', { executable: '#!/bin/sh\n' })),
    lands: { 'new.sh': '#!/bin/sh\n' },
    restoredByGit: ['new.sh'],
  },
  {
    title: 'core.ignoreCase=true where the disk tells cases apart',
    from: 'clean',
    shape: shaped(set({ 'core.ignoreCase': 'true' })),
    agent: all(
      file('A.txt', 'another\n'),
      file('a.txt', aByAgent),
      file('README', '1\n'),
      file('readme', '2\n'),
    ),
    changes: ['A A.txt', 'A README', 'M a.txt', 'A readme'],
  },
  {
    title: 'core.symlinks=false',
    onlyLong: true,
    from: 'clean',
    shape: shaped(set({ 'core.symlinks': 'false' })),
    agent: all(file('a.txt', aByAgent), file('link', 'b.txt')),
    lands: { link: 'b.txt' },
  },
  {
    title: 'commits are to be signed and nobody has a name',
    shape: shaped(
      set({
        'commit.gpgSign': 'true',
        'tag.gpgSign': 'true',
        'gpg.program': '/nonexistent',
        'user.useConfigOnly': 'true',
      }),
    ),
  },
  {
    title: 'a merge driver of the user',
    onlyLong: true,
    shape: shaped(
      set({ 'merge.mine.driver': 'cat %B >%A' }),
      file('.gitattributes', 'a.txt merge=mine\n'),
      file('a.txt', aText.replace('line 1\n', 'line 1, mine\n')),
    ),
    agent: file('a.txt', aByAgent),
  },
  {
    title: 'ignore rules outside the repository',
    onlyLong: true,
    shape: shaped(async (repo) => {
      await writeFile(join(repo.folder, 'excludes'), 'new/\n');
      await repo.git('config', 'core.excludesFile', join(repo.folder, 'excludes'));
    }),
  },
  {
    title: 'submodule.recurse=true, push.recurseSubmodules and fetch settings',
    onlyLong: true,
    shape: shaped(set({ 'submodule.recurse': 'true', 'push.default': 'matching', 'fetch.prune': 'true' })),
  },
];
