import { type BoardOverlaps, isConflict, type Overlap } from '../../model/overlap';
import { plainLine } from '../../model/plainText';
import type { Task } from '../../model/task';
import type { ListCommand } from '../arguments';
import { nameOf } from '../overlapTexts';
import type { VerbRunner } from '../verbContext';

export const conflicts: VerbRunner<ListCommand> = async (_command, { tasks, report }) => {
  const board = await tasks.list();
  for (const { path, message } of board.problems) report.warn(`${path}: ${message}`);
  const found = await tasks.overlaps();
  return { exitCode: 0, data: found, text: textOf(found, board.tasks) };
};

function textOf({ overlaps, order }: BoardOverlaps, tasks: readonly Task[]): string {
  if (order.length === 0) return 'No open Task has changed anything.\n';
  // Conflicts first: the rest merges by itself.
  const sorted = [...overlaps.filter(isConflict), ...overlaps.filter((one) => !isConflict(one))];
  const pairs = sorted.length === 0 ? ['No two changes touch the same file.', ''] : [];
  return [
    ...pairs,
    ...sorted.flatMap((one) => [...pairText(one, tasks), '']),
    'Accept them in this order:',
    ...order.map((id, index) => `  ${index + 1}. ${nameOf(id, tasks)}`),
    '',
  ].join('\n');
}

function pairText(overlap: Overlap, tasks: readonly Task[]): string[] {
  const [a, b] = [nameOf(overlap.a, tasks), nameOf(overlap.b, tasks)];
  const head = isConflict(overlap)
    ? `${a} conflicts with ${b}:`
    : `${a} and ${b} touch the same files, which merge cleanly:`;
  const rows = overlap.paths.map(
    ({ path, kind }) => `  ${plainLine(path)}${kind === 'conflict' ? ': conflict' : ': merges cleanly'}`,
  );
  return [head, ...rows];
}
