import assert from 'node:assert/strict';
import { type ForeignSetup, foreignFiles } from '../../../src/model/foreignSetup';

const read = (
  path: string,
  content: unknown,
  on: NodeJS.Platform = 'linux',
): ForeignSetup['plan'] | undefined =>
  foreignFiles
    .find((one) => one.path === path)
    ?.read(typeof content === 'string' ? content : JSON.stringify(content), on);
const plan = (given: Partial<ForeignSetup['plan']>): ForeignSetup['plan'] => ({
  commands: [],
  teardown: [],
  include: [],
  ...given,
});

describe('set-up commands in files of other tools', () => {
  const cases: readonly (readonly [title: string, path: string, content: unknown, expected: unknown])[] = [
    [
      'a list for every platform',
      '.cursor/worktrees.json',
      { 'setup-worktree': ['npm ci', 'cp "$ROOT_WORKTREE_PATH/.env" .env'] },
      plan({ commands: ['npm ci', 'cp "$ROOT_WORKTREE_PATH/.env" .env'] }),
    ],
    [
      'a list for this platform before the one for all',
      '.cursor/worktrees.json',
      { 'setup-worktree': ['no'], 'setup-worktree-unix': ['yes'], 'setup-worktree-windows': ['no'] },
      plan({ commands: ['yes'] }),
    ],
    [
      'a script named from the folder of the file, of the checkout, whatever is in its name',
      '.cursor/worktrees.json',
      { 'setup-worktree': "it's.sh" },
      plan({ commands: [`sh "$TRIBUTARY_ROOT_PATH"/'.cursor/it'\\''s.sh'`] }),
    ],
    [
      'set-up and tear-down in a folder',
      '.superset/config.json',
      { setup: ['bun install'], teardown: ['docker compose down'], run: ['bun dev'], cwd: 'apps/web' },
      plan({
        commands: ["cd 'apps/web' && bun install"],
        teardown: ["cd 'apps/web' && docker compose down"],
      }),
    ],
    [
      'scripts, one of them for the end',
      'conductor.json',
      { scripts: { setup: 'pnpm i', run: 'pnpm dev', archive: './clean.sh' } },
      plan({ commands: ['pnpm i'], teardown: ['./clean.sh'] }),
    ],
    [
      'scripts and files to keep',
      '.emdash.json',
      { preservePatterns: ['.env'], scripts: { setup: 'pnpm i', run: '', teardown: '' } },
      plan({ commands: ['pnpm i'], include: ['.env'] }),
    ],
    [
      'a script by its name',
      '.openclaw/worktree-setup.sh',
      '#!/bin/sh\n',
      plan({ commands: [`sh "$TRIBUTARY_ROOT_PATH"/'.openclaw/worktree-setup.sh'`] }),
    ],
    ['nothing in what is no JSON', '.cursor/worktrees.json', '{', undefined],
    ['nothing in what has another form', '.superset/config.json', { setup: 'bun install' }, undefined],
  ];
  for (const [title, path, content, expected] of cases)
    it(`are ${title}`, () => {
      assert.deepEqual(read(path, content), expected);
    });

  it('are those for Windows there', () => {
    const content = { 'setup-worktree-unix': ['no'], 'setup-worktree-windows': ['yes'] };
    assert.deepEqual(read('.cursor/worktrees.json', content, 'win32')?.commands, ['yes']);
  });
});
