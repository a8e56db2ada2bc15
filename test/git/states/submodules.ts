import { join } from 'node:path';
import { gitAt, repoAt, type TempRepo } from '../support/tempRepo';
import { aByAgent, all, another, file, git, type RepositoryState, shaped } from './state';

const edited = file('a.txt', aByAgent);

/** A repository with a submodule. */
export const submoduleStates: readonly RepositoryState[] = [
  {
    title: 'a submodule is checked out, with work of the user inside',
    shape: shaped(withSubmodule, file('sub/inner.txt', 'edited by the user\n'), file('sub/own.txt', 'own\n')),
  },
  {
    title: 'the agent moves a submodule to another commit: a conflict',
    short: 'fate',
    shape: shaped(withSubmodule),
    agent: all(edited, async (worktree) => {
      await worktree.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
      const sub = repoAt(worktree.folder, join(worktree.root, 'sub'));
      await sub.write('inner.txt', 'by the agent\n');
      await sub.commitAll('only in the store of this worktree');
    }),
    agentChanges: /^"repo\/\.git\/config"/,
    end: { kind: 'conflicts', paths: ['sub'] },
  },
  {
    title: 'the agent works inside a submodule without moving it',
    onlyLong: true,
    shape: shaped(withSubmodule),
    agent: all(edited, async (worktree) => {
      await worktree.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
      await worktree.write('sub/loose.txt', 'not committed\n');
    }),
    agentChanges: /^"repo\/\.git\/config"/,
  },
  {
    title: 'the agent takes a submodule out: a conflict',
    short: 'fate',
    shape: shaped(withSubmodule),
    agent: git('rm', '--quiet', '--force', 'sub'),
    agentChanges: /^"repo\/\.git\/config"/,
    end: { kind: 'conflicts', paths: ['sub'] },
  },
];

async function withSubmodule(repo: TempRepo): Promise<void> {
  const inner = await another(repo, 'inner');
  await repo.git('submodule', '--quiet', 'add', inner.root, 'sub');
  await gitAt(repo.root, 'commit', '--quiet', '--message', 'submodule', '--', 'sub', '.gitmodules');
}
