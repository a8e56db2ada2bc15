import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../../src/composeCore';
import { settingsSchema } from '../../../src/model/settings';
import type { Task } from '../../../src/model/task';
import { fingerprint, makeRepo, type TempRepo, testGitEnvironment } from '../../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from './strictServer';

const done: Reply = {
  content: [
    {
      type: 'text',
      text: 'SUMMARY: done.\n\nCHANGES:\nNone.\n\nEVIDENCE:\nNone.\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.',
    },
  ],
};

/** A repository with a core on it, where an agent runs one command and is done. */
export interface LandingSite {
  readonly repo: TempRepo;
  readonly core: Core;
  /** A Task whose agent ran `command` in its Worktree. */
  task(
    command: string,
    more?: { checks?: readonly string[]; withUncommitted?: boolean; setup?: readonly string[] },
  ): Promise<Task>;
  /** Makes a hook of the user that appends its name to the file `hooks` beside the repository, and then runs `more`. */
  hook(name: string, more?: string): Promise<void>;
  /** The hooks that ran, in their order. */
  hooksRun(): Promise<string[]>;
  dispose(): Promise<void>;
}

export const objective = 'Say good day\nin many words';

/** Twelve lines, so that edits at both ends do not meet. */
export const longText = Array.from({ length: 12 }, (_, index) => `line ${index + 1}\n`).join('');

export async function makeLandingSite(
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<LandingSite> {
  const server: StrictServer = await startStrictServer({ apiKey: 'test-key' });
  const repo = await makeRepo({
    files: { 'a.txt': longText, 'b.txt': 'two\n', 'gone.txt': 'goes\n', '.gitignore': 'ignored/\n' },
  });
  const core = await composeCore({
    directory: repo.root,
    settings: () => settingsSchema.parse({ model: { baseUrl: server.url } }),
    env: { ...process.env, ...testGitEnvironment(), ...env },
    credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
    permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
    appVersion: '0.0.0-test',
  });
  const log = join(repo.folder, 'hooks');
  return {
    repo,
    core,
    task: async (command, { checks, withUncommitted, setup } = {}) => {
      let turn = 0;
      server.script(() => {
        turn += 1;
        return turn === 1 ? { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] } : done;
      });
      const packet = await core.tasks.prepare({
        objective,
        ...(checks === undefined ? {} : { checks }),
        ...(withUncommitted === undefined ? {} : { withUncommitted }),
        ...(setup === undefined ? {} : { setup: { commands: [...setup] } }),
      });
      const { settled } = await core.tasks.start({ packet, verify: 'never' });
      const { task, runs } = await settled;
      assert.equal(runs[0]?.status.state, 'completed', JSON.stringify(runs[0]?.status));
      return task;
    },
    hook: async (name, more = '') => {
      const path = join(repo.root, '.git', 'hooks', name);
      await mkdir(join(repo.root, '.git', 'hooks'), { recursive: true });
      await writeFile(path, `#!/bin/sh\necho ${name} >> '${log}'\n${more}\n`);
      await chmod(path, 0o755);
    },
    hooksRun: async () => {
      const text = await readFile(log, 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line !== '');
    },
    dispose: async () => {
      await core.dispose();
      await server.close();
    },
  };
}

/** Everything of the checkout but refs of a Task's own. */
export async function userSideOf(site: Pick<LandingSite, 'repo'>): Promise<Record<string, unknown>> {
  const print = await fingerprint(site.repo.root);
  return { ...print, refs: userRefs(print) };
}

/** Refs that are the user's. */
function userRefs(print: Record<string, string>): string[] {
  return (print['refs'] ?? '').split('\n').filter((line) => !line.startsWith('refs/heads/tributary/'));
}
