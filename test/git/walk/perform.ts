import { TributaryError, toTributaryError } from '../../../src/base/errors';
import { type Core, composeCore } from '../../../src/composeCore';
import type { TaskId } from '../../../src/model/ids';
import type { LandingMode, LandingSelection } from '../../../src/model/landing';
import { settingsSchema } from '../../../src/model/settings';
import type { AcceptOutcome, Settled, UndoOutcome } from '../../../src/tasks/taskApi';
import { generator } from '../support/random';
import type { ProductVerb } from './verbs';

/** A step of the product, as data: it may be done by another process. */
export interface Call {
  readonly verb: ProductVerb;
  readonly taskId?: string | undefined;
  readonly seed: number;
}

/** What came of it: the outcome's kind, or a failure's code. */
export interface Came {
  readonly outcome?: string | undefined;
  readonly failure?: string | undefined;
  readonly message?: string | undefined;
  /** What it says that it wrote. */
  readonly paths?: readonly string[] | undefined;
  /** What it says that it set aside. */
  readonly aside?: readonly string[] | undefined;
}

export function openCore(directory: string, baseUrl: string): Promise<Core> {
  return composeCore({
    directory,
    settings: () => settingsSchema.parse({ model: { baseUrl }, verify: { when: 'never' } }),
    env: process.env,
    credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
    permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
    appVersion: '0.0.0-test',
  });
}

/** Does the step; a failure is an answer too. */
export async function perform(core: Core, call: Call): Promise<Came> {
  try {
    return await cameOf(core, call);
  } catch (error) {
    const { code, message } = toTributaryError(error);
    const stack = error instanceof Error && !(error instanceof TributaryError) ? error.stack : undefined;
    return { failure: code, message: stack ?? message };
  }
}

/** The mode a seed stands for; applying is the usual one. */
export function modeOf(seed: number): LandingMode {
  const modes: readonly LandingMode[] = [
    'apply',
    'apply',
    'apply',
    'commit',
    'merge',
    'rebase',
    'keepBranch',
  ];
  return modes[seed % modes.length] ?? 'apply';
}

async function cameOf(core: Core, call: Call): Promise<Came> {
  const { verb } = call;
  if (verb === 'doctor') return mended(core);
  if (verb === 'restoreTo') return restoredTo(core, call);
  const came = await outcomeOf(core, { ...call, verb });
  if (typeof came === 'string') return { outcome: came };
  const paths = 'paths' in came ? { paths: came.paths } : {};
  return { outcome: came.kind, ...paths };
}

async function outcomeOf(
  core: Core,
  { verb, taskId, seed }: Call & { readonly verb: Exclude<ProductVerb, 'doctor' | 'restoreTo'> },
): Promise<string | AcceptOutcome | UndoOutcome> {
  const { tasks } = core;
  if (verb === 'start') {
    const withUncommitted = seed % 5 === 0;
    const packet = await tasks.prepare({ objective: `Do ${seed}`, withUncommitted });
    return ended(await tasks.start({ packet, verify: 'never' }));
  }
  if (verb === 'sweep') {
    const items = await tasks.housekeeping.sweep();
    return items.map(({ kind, outcome }) => `${kind}_${outcome}`).join() || 'nothing';
  }
  const { id } = (await tasks.find(taskId ?? '')).task;
  switch (verb) {
    case 'followUp':
      return ended(await tasks.followUp(id, `Go on ${seed}`));
    case 'resume':
      return ended(await tasks.resume(id));
    case 'accept':
      return tasks.accept(id, { mode: modeOf(seed) });
    case 'acceptPart':
      return tasks.accept(id, { selection: await partOf(core, id, seed) });
    case 'undo':
      return tasks.undo(id);
    case 'undoMerge':
      return tasks.undo(id, { merge: true });
    case 'discard':
      return (await tasks.discard(id)).state;
    case 'restore':
      return (await tasks.restore(id)).state;
    case 'mergeIn':
      return (await tasks.mergeIn(id)).kind;
    case 'mark': {
      const random = generator(seed);
      const mark = (['accept', 'reject', 'reviewed', undefined] as const)[random(4)];
      return (await tasks.mark(id, await partOf(core, id, seed), mark)).state;
    }
  }
}

/** Mends what can be mended, and says `ill` where a second time still finds some of that. */
async function mended({ tasks }: Core): Promise<Came> {
  const first = await tasks.housekeeping.examine({ mend: true });
  const second = await tasks.housekeeping.examine({ mend: true });
  // Temporary indexes are the whole machine's: one of another killed process may come of age in between.
  const still = second.filter(({ canMend, kind }) => canMend && kind !== 'temporary');
  if (still.length > 0) return { outcome: 'ill', message: JSON.stringify({ first, still }) };
  const kinds = first.filter(({ canMend }) => canMend).map(({ kind }) => kind);
  return { outcome: kinds.length === 0 ? 'well' : `mended_${[...new Set(kinds)].join('_')}` };
}

/** To some earlier state; every second time that is taken back at once. */
async function restoredTo({ tasks }: Core, { taskId, seed }: Call): Promise<Came> {
  const random = generator(seed);
  const { id } = (await tasks.find(taskId ?? '')).task;
  const numbers = [0, ...(await tasks.snapshots(id)).map(({ number }) => number)];
  const snapshot = random(3) === 0 ? 0 : (numbers[random(numbers.length)] ?? 0);
  const { before, aside } = await tasks.restoreTo(id, { snapshot });
  if (random(2) === 0) return { outcome: 'restored' };
  const back = await tasks.restoreTo(id, { snapshot: before });
  return { outcome: 'takenBack', aside: [...(aside?.paths ?? []), ...(back.aside?.paths ?? [])] };
}

async function ended({ settled }: { settled: Promise<Settled> }): Promise<string> {
  const { runs } = await settled;
  return runs.map(({ status }) => status.state).join();
}

/** Some of the files, some of the hunks of the others. */
async function partOf(core: Core, id: TaskId, seed: number): Promise<LandingSelection> {
  const random = generator(seed);
  const { files } = await core.tasks.hunks(id);
  const paths: string[] = [];
  const hunks: string[] = [];
  for (const file of files) {
    if (random(3) === 0) paths.push(file.path);
    else hunks.push(...file.hunks.filter(() => random(2) === 0).map((hunk) => hunk.id));
  }
  const [first] = files;
  if (first !== undefined && paths.length + hunks.length === 0) paths.push(first.path);
  return { paths, hunks };
}
