import { zeroName } from './objectNames';
import { decodePath } from './parsers/pathBytes';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';

/** A ref of ours below `refs/tributary/`. */
export interface OwnRef {
  readonly ref: string;
  readonly commit: string;
  readonly committedAt: string;
}

/** One recorded state of a Worktree, as its ref tells it. */
export interface RecordedSnapshot extends OwnRef {
  readonly number: number;
  readonly tree: string;
  /** Where HEAD stood. */
  readonly headCommit: string;
  /** Absent for what was kept aside before a check's leavings were taken out. */
  readonly at?: { readonly runId: string; readonly turn: number };
}

/** Refs below `prefix` (default: all of ours). */
export async function listOwnRefs(
  git: Git,
  facts: RepositoryFacts,
  prefix = 'refs/tributary',
): Promise<readonly OwnRef[]> {
  const format = '%(refname)%00%(objectname)%00%(committerdate:iso-strict)';
  const output = await git({ cwd: facts.root, args: ['for-each-ref', `--format=${format}`, prefix] });
  return decodePath(output.stdout)
    .split('\n')
    .flatMap((line) => {
      const [ref = '', commit = '', committedAt = ''] = line.split('\0');
      return ref === '' ? [] : [{ ref, commit, committedAt }];
    });
}

/** The Snapshots of a Task that refs name, oldest first. */
export async function listSnapshots(
  git: Git,
  facts: RepositoryFacts,
  taskId: string,
): Promise<readonly RecordedSnapshot[]> {
  const fields = ['refname', 'objectname', 'tree', 'parent', 'committerdate:iso-strict', 'contents:body'];
  const format = fields.map((field) => `%(${field})%00`).join('');
  const prefix = `refs/tributary/${taskId}/`;
  const output = await git({ cwd: facts.root, args: ['for-each-ref', `--format=${format}`, prefix] });
  const parts = decodePath(output.stdout).split('\0');
  const found: RecordedSnapshot[] = [];
  for (let at = 0; at + fields.length <= parts.length; at += fields.length) {
    const [name = '', commit = '', tree = '', parents = '', committedAt = '', body = ''] = parts.slice(at);
    const ref = name.replace(/^\n/, '');
    const number = /^\d+$/.exec(ref.slice(prefix.length))?.[0];
    if (number === undefined) continue;
    const [, runId, turn] = /^Run (\S+), turn (\d+)$/m.exec(body) ?? [];
    found.push({
      ...{ ref, commit, tree, committedAt },
      number: Number(number),
      headCommit: parents.split(' ')[0] ?? '',
      ...(runId === undefined ? {} : { at: { runId, turn: Number(turn) } }),
    });
  }
  return found.sort((a, b) => a.number - b.number);
}

/** Deletes refs of ours, each only while it names what was seen; any other ref is refused. */
export async function deleteOwnRefs(
  git: Git,
  facts: RepositoryFacts,
  refs: readonly Pick<OwnRef, 'ref' | 'commit'>[],
): Promise<void> {
  const own = refs.filter(({ ref }) => ref.startsWith('refs/tributary/'));
  if (own.length === 0) return;
  const input = own.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
  await git({ cwd: facts.root, args: ['update-ref', '-z', '--stdin'], input });
}

/** Those of `objects` that the repository does not have. */
export async function missingObjects(
  git: Git,
  facts: RepositoryFacts,
  objects: readonly string[],
): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  const input = `${objects.join('\n')}\n`;
  const output = await git({ cwd: facts.root, args: ['cat-file', '--batch-check'], input });
  const lines = decodePath(output.stdout).split('\n');
  return new Set(lines.flatMap((line) => /^(\S+) missing$/.exec(line)?.[1] ?? []));
}

/** Names a commit again that is there and has lost its ref. */
export async function nameAgain(
  git: Git,
  facts: RepositoryFacts,
  ref: string,
  commit: string,
): Promise<void> {
  await git({ cwd: facts.root, args: ['update-ref', ref, commit, zeroName(commit)] });
}

/** Setting of the shared configuration that sends linked worktrees into the main checkout. */
export async function coreWorktreeHazard(git: Git, facts: RepositoryFacts): Promise<string | undefined> {
  const read = async (name: string): Promise<string | undefined> => {
    const args = ['config', '--file', `${facts.commonDir}/config`, '--get', name];
    const output = await git({ cwd: facts.root, args, okCodes: [0, 1] });
    return output.exitCode === 0 ? lineOf(output) : undefined;
  };
  const [place, perWorktree] = await Promise.all([read('core.worktree'), read('extensions.worktreeConfig')]);
  return place !== undefined && perWorktree?.toLowerCase() === 'true' ? place : undefined;
}
