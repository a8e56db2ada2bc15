import type { Task } from '../../../src/model/task';
import type { ProductVerb } from './verbs';

/** How many Landings of a Task stand. */
export function standing(task: Task | undefined): number {
  return task?.landings.filter((one) => one.undoneAt === undefined).length ?? 0;
}

/** Whether the verb has anything to do with a Task as it is. */
export function fits(task: Task, verb: ProductVerb): boolean {
  switch (verb) {
    case 'start':
    case 'sweep':
    case 'doctor':
      return false;
    case 'followUp':
      return true;
    case 'resume':
      return task.state === 'open' && task.runs.at(-1)?.status.state !== 'completed';
    case 'undo':
    case 'undoMerge':
      return standing(task) > 0;
    case 'restore':
      return task.state === 'discarded' || task.state === 'closed';
    default:
      return task.state === 'open' && task.branch !== undefined;
  }
}
