import { TributaryError, toTributaryError } from '../../base/errors';
import { plainLine } from '../../model/plainText';
import type { Task } from '../../model/task';
import type { RestorePoint } from '../../tasks/housekeepingApi';
import type { RestoreCommand } from '../arguments';
import { taskData } from '../records';
import type { Outcome } from '../report';
import { keptText } from '../texts';
import { taskOf, type VerbContext, type VerbRunner } from '../verbContext';

export const restore: VerbRunner<RestoreCommand> = async ({ target, point }, context) => {
  const found = await taskOf(target, context);
  context.interruption.begin('files');
  if (point !== undefined) return toEarlier(found, pointIn(found, point), context);
  const task = await context.tasks.restore(found.id);
  const place = task.worktreePath === undefined ? '' : ` in ${plainLine(task.worktreePath)}`;
  return {
    exitCode: 0,
    data: { task: taskData(task) },
    text: `Restored ${plainLine(task.slug)}${place}\n${keptText(task)}`,
  };
};

async function toEarlier(
  { id, slug: name }: Task,
  point: RestorePoint,
  { tasks }: VerbContext,
): Promise<Outcome> {
  const { task, to, before, restored, removed, aside } = await tasks
    .restoreTo(id, point)
    .catch((error: unknown) => notRecorded(error, name));
  const slug = plainLine(task.slug);
  const count = restored.length + removed.length;
  const what = to === 0 ? 'its base' : `snapshot ${to}`;
  const kept = aside
    ? `What was in their way is kept in ${plainLine(aside.folder)}: ${aside.paths.map(plainLine).join(', ')}\n`
    : '';
  return {
    exitCode: 0,
    data: { task: taskData(task), to, before, restored, removed, ...(aside && { aside }) },
    text: `${slug} stands at ${what} now: ${count} ${count === 1 ? 'file' : 'files'} put back.\n${kept}Take it back with: tributary restore ${slug} --snapshot ${before}\n`,
  };
}

/** The list of Tasks, which an unknown id leads to otherwise, has no states of one. */
function notRecorded(error: unknown, slug: string): never {
  const { code, message, details } = toTributaryError(error);
  if (code !== 'unknownId') throw error;
  const hint = `"tributary show ${plainLine(slug)}" lists its runs, turns and snapshots.`;
  throw new TributaryError(code, message, { details: { ...details, hint } });
}

/** A Run by its id or a unique beginning of it. Throws `unknownId`, `ambiguousId`. */
function pointIn(task: Task, point: RestorePoint): RestorePoint {
  if ('snapshot' in point) return point;
  const found = task.runs.filter(({ id }) => id === point.run || id.startsWith(point.run));
  const [run, second] = found;
  if (run === undefined) {
    throw new TributaryError('unknownId', `task ${task.slug} has no run ${JSON.stringify(point.run)}`);
  }
  if (second !== undefined && run.id !== point.run) {
    throw new TributaryError('ambiguousId', `${JSON.stringify(point.run)} means more than one run`);
  }
  return { ...point, run: run.id };
}
