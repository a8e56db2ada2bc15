import { TributaryError } from '../base/errors';
import type { Run } from '../model/run';
import type { Task } from '../model/task';

/**
 * The Task, or the Run, that a user means: a whole id, a slug, or a prefix that only one id has. A whole id or
 * slug wins over prefixes. Throws `unknownId`, `ambiguousId`.
 */
export function findTask(tasks: readonly Task[], text: string): { task: Task; run?: Run } {
  const runs = tasks.flatMap((task) => task.runs.map((run) => ({ task, run })));
  const exactTask = tasks.find((task) => task.id === text || task.slug === text);
  if (exactTask !== undefined) return { task: exactTask };
  const exactRun = runs.find(({ run }) => run.id === text);
  if (exactRun !== undefined) return exactRun;
  const matches: Array<{ task: Task; run?: Run }> = [
    ...tasks
      .filter((task) => text !== '' && (task.id.startsWith(text) || task.slug.startsWith(text)))
      .map((task) => ({ task })),
    ...runs.filter(({ run }) => text !== '' && run.id.startsWith(text)),
  ];
  const [only, ...others] = matches;
  if (only === undefined)
    throw new TributaryError('unknownId', `no task or run is called "${text}"`, { details: { text } });
  if (others.length > 0) {
    const names = matches.slice(0, 5).map(({ task, run }) => run?.id ?? task.slug);
    throw new TributaryError('ambiguousId', `"${text}" could be ${names.join(', ')}`, {
      details: { text, names },
    });
  }
  return only;
}
