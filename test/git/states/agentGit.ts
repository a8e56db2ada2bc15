import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TempRepo } from '../support/tempRepo';
import { aByAgent, all, file, git, gone, type RepositoryState, usualWork } from './state';

const committed = (message: string): ((repo: TempRepo) => Promise<unknown>) =>
  all(git('add', '--all'), git('commit', '--quiet', '--message', message));

const branches = /^"repo\/\.git\/(logs\/)?refs\/heads\//;

/** What an agent does with git, by a script that no guard reads. */
export const agentGitStates: readonly RepositoryState[] = [
  {
    title: 'the agent staged its work',
    agent: all(usualWork, git('add', '--all')),
    short: 'fate',
    onlyLong: true,
  },
  { title: 'the agent committed its work', agent: all(usualWork, committed('work')), short: 'fate' },
  {
    title: 'the agent committed some of its work, staged some and left some',
    onlyLong: true,
    agent: all(
      usualWork,
      committed('work'),
      file('staged-later.txt', 'staged\n'),
      git('add', '--all'),
      file('staged-later.txt', 'edited\n'),
      file('loose.txt', 'loose\n'),
    ),
  },
  {
    title: 'the agent amended the commit it began on',
    onlyLong: true,
    agent: all(usualWork, git('add', '--all'), git('commit', '--quiet', '--amend', '--message', 'amended')),
    short: 'fate',
  },
  {
    title: 'the agent committed, and took the commit back',
    onlyLong: true,
    agent: all(usualWork, committed('work'), git('reset', '--quiet', '--soft', 'HEAD~1')),
    short: 'fate',
  },
  {
    title: 'the agent committed, threw the commit away and began again',
    onlyLong: true,
    agent: all(
      usualWork,
      committed('thrown away'),
      git('reset', '--quiet', '--hard', 'HEAD~1'),
      file('again.txt', '1\n'),
    ),
    short: 'fate',
  },
  {
    title: 'the agent made several commits and rebased them',
    onlyLong: true,
    agent: all(
      file('one.txt', '1\n'),
      committed('one'),
      file('two.txt', '2\n'),
      committed('two'),
      file('one.txt', '11\n'),
      git('commit', '--quiet', '--all', '--fixup', 'HEAD~1'),
      git('-c', 'sequence.editor=:', 'rebase', '--quiet', '--interactive', '--autosquash', 'HEAD~3'),
    ),
    short: 'fate',
  },
  {
    title: 'the agent went over to a branch of its own',
    onlyLong: true,
    agent: all(git('checkout', '--quiet', '-b', 'agents-own'), usualWork),
    agentChanges: branches,
    short: 'fate',
  },
  {
    title: 'the agent committed on a branch of its own',
    onlyLong: true,
    agent: all(git('checkout', '--quiet', '-b', 'agents-own'), usualWork, committed('elsewhere')),
    agentChanges: branches,
    short: 'fate',
  },
  {
    title: 'the agent committed on the Task’s branch and then went over to another',
    agent: all(
      file('one.txt', '1\n'),
      committed('on ours'),
      git('checkout', '--quiet', '-b', 'agents-own', 'HEAD~1'),
      file('two.txt', '2\n'),
    ),
    agentChanges: branches,
    short: 'fate',
  },
  {
    title: 'the agent created a branch and stayed',
    onlyLong: true,
    agent: all(usualWork, git('branch', 'agents-own')),
    agentChanges: branches,
  },
  {
    title: 'the agent detached HEAD and committed there',
    onlyLong: true,
    agent: all(git('checkout', '--quiet', '--detach'), usualWork, committed('detached')),
    short: 'fate',
  },
  {
    title: 'the agent left commits on a detached HEAD behind',
    onlyLong: true,
    agent: all(
      git('checkout', '--quiet', '--detach'),
      file('lost.txt', 'lost\n'),
      committed('left behind'),
      git('checkout', '--quiet', '-'),
      usualWork,
    ),
    short: 'fate',
  },
  {
    title: 'the agent renamed the Task’s branch',
    onlyLong: true,
    agent: all(usualWork, git('branch', '--move', 'agents-own')),
    agentChanges: branches,
    short: 'fate',
  },
  {
    title: 'the agent began a branch without a commit',
    agent: all(git('checkout', '--quiet', '--orphan', 'agents-own'), usualWork),
    agentChanges: branches,
    short: 'fate',
  },
  {
    title: 'the agent stashed some of its work',
    agent: all(
      file('b.txt', 'stashed\n'),
      git('stash', 'push', '--quiet', '--', 'b.txt'),
      file('a.txt', aByAgent),
    ),
    agentChanges: /^"repo\/\.git\/(logs\/)?refs\/stash"/,
    short: 'fate',
  },
  {
    title: 'the agent is in the middle of a merge with conflicts',
    onlyLong: true,
    agent: all(
      git('checkout', '--quiet', '-b', 'agents-own'),
      file('a.txt', 'theirs\n'),
      git('commit', '--quiet', '--all', '--message', 'theirs'),
      git('checkout', '--quiet', '-'),
      file('a.txt', 'ours\n'),
      git('commit', '--quiet', '--all', '--message', 'ours'),
      async (worktree) => worktree.git('merge', '--quiet', 'agents-own').catch(() => undefined),
    ),
    agentChanges: branches,
    short: 'fate',
  },
  {
    title: 'the agent hid its edits by index flags',
    agent: all(
      git('update-index', '--assume-unchanged', 'a.txt'),
      git('update-index', '--skip-worktree', 'b.txt'),
      file('a.txt', aByAgent),
      file('b.txt', 'b, by the agent\n'),
    ),
    changes: ['M a.txt', 'M b.txt'],
  },
  {
    title: 'the agent took files out of the index and kept them',
    onlyLong: true,
    agent: all(usualWork, git('rm', '--quiet', '--cached', 'a.txt', 'crlf.txt')),
  },
  {
    title: 'the agent took a file out of the index that it then had ignored',
    agent: all(
      file('.gitignore', '*.log\nbuild/\na.txt\n'),
      git('rm', '--quiet', '--cached', 'a.txt'),
      file('a.txt', aByAgent),
    ),
    lands: { 'a.txt': 'absent' },
    short: 'fate',
  },
  {
    title: 'the agent deleted its index',
    onlyLong: true,
    agent: async (worktree) => {
      await usualWork(worktree);
      const gitDir = (await worktree.git('rev-parse', '--absolute-git-dir')).trim();
      await rm(join(gitDir, 'index'));
    },
    changes: ['M a.txt', 'M b.txt', 'D dir/deep/d.txt', 'A new/file.txt'],
    short: 'fate',
  },
  {
    title: 'the agent left a lock on its index',
    onlyLong: true,
    agent: async (worktree) => {
      await usualWork(worktree);
      const gitDir = (await worktree.git('rev-parse', '--absolute-git-dir')).trim();
      await writeFile(join(gitDir, 'index.lock'), '');
    },
    short: 'fate',
  },
  {
    title: 'the agent planted hooks and programs in a configuration of its Worktree',
    agent: async (worktree, repo) => {
      await usualWork(worktree);
      await mkdir(join(worktree.root, 'hooks'));
      await writeFile(
        join(worktree.root, 'hooks', 'x.sh'),
        `#!/bin/sh\necho ran >>'${repo.folder}/trapped'\n`,
      );
      const gitDir = (await worktree.git('rev-parse', '--absolute-git-dir')).trim();
      const path = join(worktree.root, 'hooks', 'x.sh');
      await writeFile(
        join(gitDir, 'config.worktree'),
        `[core]\n\tfsmonitor = sh ${path}\n\thooksPath = hooks\n`,
      );
    },
  },
  {
    title: 'the agent set up a sparse checkout',
    onlyLong: true,
    agent: all(usualWork, git('sparse-checkout', 'set', '--no-cone', '/*', '!/dir/')),
    agentChanges: /^"repo\/\.git\/config(\.worktree)?"/,
    restoredByGit: ['dir/c.txt', 'dir/deep/d.txt'],
    short: 'fate',
  },
  {
    title: 'the agent made a worktree inside its Worktree',
    onlyLong: true,
    agent: all(usualWork, git('worktree', 'add', '--quiet', '-b', 'agents-own', 'inner')),
    changes: [
      'M a.txt',
      'M b.txt',
      'D dir/deep/d.txt',
      'A new/file.txt',
      ...'.gitignore a.txt b.txt bin.dat both.txt crlf.txt dir/c.txt dir/deep/d.txt empty.txt link mine.txt noeol.txt run.sh staged.txt'
        .split(' ')
        .map((name) => `A inner/${name}`),
    ],
    agentChanges: /^"repo\/\.git\/((logs\/)?refs\/heads|worktrees\/inner)\//,
    short: 'fate',
  },
  {
    title: 'the agent deleted everything, and its .git file with it',
    agent: all(usualWork, gone('.git', 'dir')),
    changes: ['M a.txt', 'M b.txt', 'D dir/c.txt', 'D dir/deep/d.txt', 'A new/file.txt'],
    end: { kind: 'lands' },
  },
  {
    title: 'the agent put a link where a folder was, to outside, and wrote through it',
    agent: async (worktree, repo) => {
      await mkdir(join(repo.folder, 'outside'));
      await rm(join(worktree.root, 'dir'), { recursive: true });
      await symlink(join(repo.folder, 'outside'), join(worktree.root, 'dir'));
      await writeFile(join(worktree.root, 'dir', 'c.txt'), 'outside\n');
    },
    agentChanges: /^"outside\//,
  },
];
