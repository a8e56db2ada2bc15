import { toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { ContentDrivers } from '../git/contentDrivers';
import type { Drift, OwnNames, Surroundings } from '../git/drift';
import { type Alarm, alarmHeadline, alarmLines, type DriftChange } from '../model/alarm';
import type { RunId } from '../model/ids';
import type { Task } from '../model/task';
import type { NewEntry } from '../model/transcript';
import type { Store } from '../store/store';
import { movesOf, type OwnMove, unexplained } from './ownMoves';
import type { TaskRecords } from './taskRecords';

export interface AlarmsDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly drift: Drift;
  readonly drivers: ContentDrivers;
  readonly logger: Logger;
  readonly newId: () => string;
}

/** Whose command it is, and where its transcript takes notes. */
export interface CommandOf {
  readonly task: Task;
  readonly runId: RunId;
  readonly append: (entry: NewEntry) => Promise<void>;
}

/** Changes listed in one alarm; a `git gc` of a script can touch thousands. */
const maxChanges = 50;

/** Landings that are asked what they moved. */
const maxLandings = 10;

/**
 * Compares what no command of an agent may change before and after each of them. Who changed it cannot be told:
 * the user works in the same repository, so an alarm says when, not who.
 */
export class Alarms {
  private readonly deps: AlarmsDeps;

  constructor(deps: AlarmsDeps) {
    this.deps = deps;
  }

  /** Runs `body`; `alarm` is what the model is told of what changed meanwhile. */
  async around<T>(
    of: CommandOf,
    command: string,
    body: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly alarm?: string }> {
    const before = await this.look(of);
    // What stands there now is not this command's doing.
    const earlier = await this.raise(of, undefined, await this.newDrivers(of));
    const result = await body();
    const after = before === undefined ? undefined : await this.look(of);
    const drift = before === undefined || after === undefined ? [] : await this.drifted(of, before, after);
    const now = await this.raise(of, command, [...drift, ...(await this.newDrivers(of))]);
    const told = [earlier, now].filter((text) => text !== undefined);
    return { result, ...(told.length === 0 ? {} : { alarm: told.join('\n') }) };
  }

  /** `around` for Checks, which belong to no conversation: the Run whose work they judge takes the note. */
  aroundChecks(task: Task, runId: RunId): <T>(command: string, body: () => Promise<T>) => Promise<T> {
    const append = (entry: NewEntry): Promise<void> => this.noteIn(task, runId, entry);
    return async (command, body) => (await this.around({ task, runId, append }, command, body)).result;
  }

  /** Takes a note in a transcript that is closed already; one that was never begun takes none. */
  private async noteIn(task: Task, runId: RunId, entry: NewEntry): Promise<void> {
    try {
      const writer = await this.deps.store.transcripts.reopen(task.id, runId);
      try {
        await writer.append(entry);
      } finally {
        await writer.close();
      }
    } catch (error) {
      this.deps.logger.warn('a note could not be taken in a transcript', { runId, error });
    }
  }

  /** A look that fails is said, and keeps no command from running. */
  private async look({ runId, append }: CommandOf): Promise<Surroundings | undefined> {
    try {
      return await this.deps.drift.look();
    } catch (error) {
      this.deps.logger.warn('what commands must not change could not be looked at', { runId, error });
      const text = 'What commands must not change outside the Worktree could not be looked at.';
      await append({ type: 'note', code: 'drift.unseen', text });
      return undefined;
    }
  }

  private async drifted(
    of: CommandOf,
    before: Surroundings,
    after: Surroundings,
  ): Promise<readonly DriftChange[]> {
    const { drift, records } = this.deps;
    const nobody: OwnNames = { worktrees: new Set(), branches: new Set() };
    const any = drift.compare(before, after, nobody);
    if (any.changes.length === 0 && any.newBranches.length === 0) return [];
    const own = await this.own(of.task, [before, after]);
    const found = drift.compare(before, after, own);
    const { newBranches } = found;
    const changes = unexplained(found.changes, own.moves);
    if (newBranches.length === 0) return changes;
    // Agents may make branches; from now on this one is the Task's.
    await records.change(of.task.id, (task) => ({
      ...task,
      branchesMade: [...new Set([...task.branchesMade, ...newBranches])],
    }));
    const text = `New while this command ran: ${newBranches.slice(0, maxChanges).join(', ')}`;
    await of.append({ type: 'note', code: 'branch.made', text });
    return changes;
  }

  /** Read afterwards, so that Tasks that began meanwhile, and branches they made, are known. */
  private async own(
    task: Task,
    looks: readonly Surroundings[],
  ): Promise<OwnNames & { readonly moves: readonly OwnMove[] }> {
    const { store } = this.deps;
    const [{ tasks }, listed] = await Promise.all([store.tasks.list(), store.worktrees.list()]);
    const worktrees = new Set(listed.map(({ path }) => path));
    const made = tasks.flatMap(({ branchesMade }) => branchesMade);
    const branches = new Set([...made, ...listed.map(({ branch }) => branch)]);
    const heads = looks.flatMap((look) => [...look.heads]);
    const refs = heads.map(([folder, head]) => ({ folder, ref: head.trim().slice('ref: '.length) }));
    // Where other Tasks' agents are just now, unless the user is there too.
    for (const { folder, ref } of refs) {
      const isOthers = worktrees.has(folder) && folder !== task.worktreePath;
      const isUsers = refs.some((one) => one.ref === ref && !worktrees.has(one.folder));
      if (isOthers && !isUsers) branches.add(ref);
    }
    return { worktrees, branches, moves: await this.moves(tasks) };
  }

  /** What the newest Landings did to branches: any process may have made one meanwhile. */
  private async moves(tasks: readonly Task[]): Promise<readonly OwnMove[]> {
    const ids = tasks.flatMap(({ landings, pending }) => [
      ...landings.slice(-maxLandings).map(({ id }) => id),
      ...(pending?.landingId === undefined ? [] : [pending.landingId]),
    ]);
    const newest = [...new Set(ids)].sort().slice(-maxLandings);
    const records = await Promise.all(
      newest.map((id) => this.deps.store.journal.load(id).catch(unlessUnknown)),
    );
    return records.flatMap((record) => (record === undefined ? [] : movesOf(record)));
  }

  /** Filters and merge drivers that came or changed since the Task began and that nobody was told of yet. */
  private async newDrivers({ task }: CommandOf): Promise<readonly DriftChange[]> {
    if (task.drivers === undefined) return [];
    const changed = await this.deps.drivers.changedSince(task.drivers);
    if (changed.length === 0) return [];
    const { alarms } = await this.deps.records.load(task.id);
    const told = new Set(alarms.flatMap(({ changes }) => changes).map(({ kind, name }) => `${kind} ${name}`));
    return changed.filter((name) => !told.has(`driver ${name}`)).map((name) => ({ kind: 'driver', name }));
  }

  private async raise(
    { task, runId, append }: CommandOf,
    command: string | undefined,
    changes: readonly DriftChange[],
  ): Promise<string | undefined> {
    if (changes.length === 0) return undefined;
    const { records, newId } = this.deps;
    const more = changes.length - maxChanges;
    const alarm: Alarm = {
      id: newId(),
      at: records.now(),
      runId,
      ...(command === undefined ? {} : { command }),
      changes: changes.slice(0, maxChanges),
      ...(more > 0 ? { more } : {}),
    };
    await records.change(task.id, (current) => ({ ...current, alarms: [...current.alarms, alarm] }), {
      type: 'alarm',
      runId,
      alarm,
    });
    const text = [alarmHeadline(alarm), ...alarmLines(alarm).map((line) => `- ${line}`)].join('\n');
    const by = command === undefined ? '' : `\nThe command: ${command}`;
    await append({ type: 'note', code: 'alarm', text: `${text}${by}` });
    return `[alarm] ${text}\nThe user has been told. If the command did it, do not do so again and do not try to put it right: say it under BLOCKERS.`;
  }
}

/** A journal that has gone moves nothing any more. */
function unlessUnknown(error: unknown): undefined {
  if (toTributaryError(error).code !== 'unknownId') throw error;
  return undefined;
}
