import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generator } from '../support/random';
import type { TempRepo } from '../support/tempRepo';
import type { UserVerb } from './steps';

/** What the user does in the checkout by hand and with plain git. A git that refuses is no failure. */
export async function actAsUser(repo: TempRepo, verb: UserVerb, seed: number, name: string): Promise<void> {
  const random = generator(seed);
  const tracked = ['a.txt', 'b.txt', 'dir/c.txt', 'bin.dat', 'shared.txt'];
  const path = tracked[random(tracked.length)] ?? 'a.txt';
  const git = (...args: string[]): Promise<unknown> => repo.git(...args).catch(() => undefined);
  switch (verb) {
    case 'edit':
      return editLine(repo, 1 + random(14), name);
    case 'write':
      return write(repo, random(2) === 0 ? path : `mine-${name}.txt`, `written by the user ${name}\n`);
    case 'ignored':
      return write(repo, `build/mine-${name}`, `ignored, of the user ${name}\n`);
    case 'remove':
      if (existsSync(join(repo.root, path))) await repo.remove(path);
      return;
    case 'add':
      await git('add', ...(random(2) === 0 ? ['--all'] : [path]));
      return;
    case 'commit':
      await git('commit', '--quiet', '--all', '--message', `by the user ${name}`);
      return;
    case 'stash':
      await git('stash', 'push', '--quiet', ...(random(2) === 0 ? ['--include-untracked'] : []));
      return;
    case 'pop':
      await git('stash', 'pop', '--quiet');
      return;
    case 'reset':
      await git('reset', '--quiet', ...(random(2) === 0 ? ['--hard'] : []));
      return;
    case 'switch':
      await git('switch', '--quiet', ...(random(2) === 0 ? ['--create', `user-${name}`] : ['main']));
      return;
  }
}

async function editLine(repo: TempRepo, line: number, name: string): Promise<void> {
  const text = await repo.read('a.txt').catch(() => undefined);
  if (text === undefined) return;
  const lines = text.split('\n');
  if (line < lines.length) lines[line - 1] = `user ${name} on line ${line}`;
  await repo.write('a.txt', lines.join('\n'));
}

/** A folder may stand where a file was, and the other way round: then nothing is written. */
async function write(repo: TempRepo, path: string, text: string): Promise<void> {
  await repo.write(path, text).catch(() => undefined);
}
