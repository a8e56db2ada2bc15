import { plainLine } from '../../model/plainText';
import type { TargetCommand } from '../arguments';
import type { VerbRunner } from '../verbContext';

const waitMs = 5_000;

export const stop: VerbRunner<TargetCommand> = async ({ target }, { tasks }) => {
  const { task, run } = await tasks.find(target);
  const outcome = await tasks.stop(
    { taskId: task.id, ...(run === undefined ? {} : { runId: run.id }) },
    { waitMs },
  );
  const { stopped, stillRunning } = outcome;
  const lines = stopped.map((id) => `Stopped ${id}; the work is kept.`);
  lines.push(...stillRunning.map((id) => `Still running after ${waitMs / 1_000} s: ${id}`));
  if (lines.length === 0) lines.push(`Nothing of ${plainLine(task.slug)} was running.`);
  return {
    exitCode: stillRunning.length === 0 ? 0 : 1,
    data: { taskId: task.id, stopped, stillRunning },
    text: `${lines.join('\n')}\n`,
  };
};
