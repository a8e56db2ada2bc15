import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { ContentDriver } from '../model/alarm';
import { unlessMissing } from './checkouts';
import { decodePath } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { stampOf } from './stampedFiles';

/**
 * Commands that the configuration has git run over contents. Those a Task began with stay; what came or changed
 * since is off in our git while something is done for that Task.
 */
export interface ContentDrivers {
  /** Filters and merge drivers as they are configured now, by name. */
  current(): Promise<readonly ContentDriver[]>;
  /** Names of drivers that are not as in `known`: new, changed or gone. */
  changedSince(known: readonly ContentDriver[]): Promise<readonly string[]>;
  /** Does something for a Task; `undefined`, as for Tasks of earlier versions: nothing is turned off. */
  during<T>(known: readonly ContentDriver[] | undefined, body: () => Promise<T>): Promise<T>;
}

interface Look {
  readonly files: readonly string[];
  readonly stamps: string;
  readonly drivers: readonly ContentDriver[];
}

export class GitContentDrivers implements ContentDrivers {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  /** Whom what runs now is done for: every git below `during` goes by it, however it was come by. */
  private readonly doneFor = new AsyncLocalStorage<readonly ContentDriver[]>();
  private readonly env: Readonly<Record<string, string | undefined>>;
  /** By git directory: a linked worktree can have a configuration of its own. */
  private readonly last = new Map<string, Promise<Look>>();

  constructor(deps: {
    git: Git;
    facts: RepositoryFacts;
    env: Readonly<Record<string, string | undefined>>;
  }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.env = deps.env;
  }

  current(): Promise<readonly ContentDriver[]> {
    return this.currentIn(this.facts.gitDir);
  }

  async changedSince(
    known: readonly ContentDriver[],
    gitDir = this.facts.gitDir,
  ): Promise<readonly string[]> {
    const current = await this.currentIn(gitDir);
    const old = new Map(known.map(({ name, sha256 }) => [name, sha256]));
    const now = new Map(current.map(({ name, sha256 }) => [name, sha256]));
    return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name));
  }

  during<T>(known: readonly ContentDriver[] | undefined, body: () => Promise<T>): Promise<T> {
    return known === undefined ? this.doneFor.exit(body) : this.doneFor.run(known, body);
  }

  /** `git` with the drivers off that the Task it works for did not begin with. */
  guarding(git: Git): Git {
    return async (command) => {
      const known = this.doneFor.getStore();
      if (known === undefined) return git(command);
      const changed = await this.changedSince(known, command.env?.['GIT_DIR']);
      if (changed.length === 0) return git(command);
      return git({ ...command, env: { ...command.env, ...environmentWithout(changed) } });
    };
  }

  private async currentIn(gitDir: string): Promise<readonly ContentDriver[]> {
    const { facts } = this;
    const hasOwn = gitDir !== facts.gitDir && (await isThere(join(gitDir, 'config.worktree')));
    const place = hasOwn ? gitDir : facts.gitDir;
    const last = await this.last.get(place);
    if (last !== undefined && last.stamps === (await stampsOf(last.files))) return last.drivers;
    const asking = this.ask(place);
    this.last.set(place, asking);
    asking.catch(() => this.last.delete(place));
    return (await asking).drivers;
  }

  private async ask(gitDir: string): Promise<Look> {
    const { root, commonDir } = this.facts;
    const usual = [...usualFiles(commonDir, this.env), join(gitDir, 'config.worktree')];
    const args = ['config', '-z', '--show-origin', '--list'];
    // Stamped before: what changes while git reads is seen the next time.
    const stampsBefore = await stampsOf(usual);
    const { stdout } = await this.git({ cwd: root, args, env: { GIT_DIR: gitDir, GIT_WORK_TREE: root } });
    const fields = decodePath(stdout).split('\0');
    const files = new Set<string>();
    const settings: string[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [origin = '', setting = ''] = [fields[at], fields[at + 1]];
      const file = /^file:(.+)$/s.exec(origin)?.[1];
      if (file !== undefined) files.add(isAbsolute(file) ? file : resolve(root, file));
      if (isDriver(setting)) settings.push(setting);
    }
    const others = [...files].filter((file) => !usual.includes(file));
    const stamps = [stampsBefore, ...(others.length === 0 ? [] : [await stampsOf(others)])].join('\n');
    return { files: [...usual, ...others], stamps, drivers: driversOf(settings) };
  }
}

/** Read by git where they are, also while they are not there yet. */
function usualFiles(commonDir: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const { GIT_CONFIG_GLOBAL: global, XDG_CONFIG_HOME: xdg, HOME: home = homedir() } = env;
  const folder = join(xdg ?? join(home, '.config'), 'git');
  const ofUser = global === undefined ? [join(home, '.gitconfig'), join(folder, 'config')] : [global];
  return [join(commonDir, 'config'), ...ofUser];
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessMissing)) !== undefined;
}

async function stampsOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(stampOf))).join('\n');
}

/** `name\nvalue`, as `git config -z` writes it. */
function isDriver(setting: string): boolean {
  return /^(filter\.[\s\S]*\.(clean|smudge|process|required)|merge\.[\s\S]*\.(driver|recursive))(\n|$)/.test(
    setting,
  );
}

function driversOf(settings: readonly string[]): readonly ContentDriver[] {
  const byName = new Map<string, string[]>();
  for (const setting of settings) {
    const [key = ''] = setting.split('\n', 1);
    const name = key.slice(0, key.lastIndexOf('.'));
    byName.set(name, [...(byName.get(name) ?? []), setting]);
  }
  return [...byName].map(([name, all]) => ({
    name,
    sha256: createHash('sha256').update(all.join('\0')).digest('hex'),
  }));
}

/** An empty filter passes contents on; a merge driver that fails leaves a plain conflict. */
function environmentWithout(names: readonly string[]): Record<string, string> {
  const settings = names.flatMap(
    (name): Array<[string, string]> =>
      name.startsWith('filter.')
        ? [
            [`${name}.clean`, ''],
            [`${name}.smudge`, ''],
            [`${name}.process`, ''],
            [`${name}.required`, 'false'],
          ]
        : [[`${name}.driver`, 'false']],
  );
  // Not as `-c`: a name may hold `=`.
  const variables = settings.flatMap(
    ([key, value], index): Array<[string, string]> => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ],
  );
  return { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(settings.length) };
}
