import { clip, plainLine } from '../../model/plainText';
import { type Task, verdictOn } from '../../model/task';
import type { ListCommand } from '../arguments';
import { conflictRows, overlapsOf } from '../overlapTexts';
import { taskData } from '../records';
import { ageText, columns } from '../texts';
import type { VerbRunner } from '../verbContext';

export const list: VerbRunner<ListCommand> = async (_command, context) => {
  const { tasks, host, report, paint } = context;
  const board = await tasks.list();
  for (const { path, message } of board.problems) report.warn(`${path}: ${message}`);
  const newestFirst = board.tasks.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  const [head = '', ...rows] = columns([
    ['TASK', 'STATE', 'RUN', 'AGENT', 'VERDICT', 'AGE', 'OBJECTIVE'],
    ...newestFirst.map((task) => rowOf(task, host.now())),
  ]);
  const found = await overlapsOf(context);
  const conflicts = conflictRows(board.tasks, found);
  const width = host.stdout.columns ?? 160;
  const table = [paint.bold(head), ...rows.map((row) => clip(row, width))];
  return {
    exitCode: 0,
    data: { tasks: newestFirst.map(taskData), problems: board.problems, overlaps: found?.overlaps },
    text:
      rows.length === 0
        ? 'No Tasks yet. Start one: tributary run "<objective>"\n'
        : `${[...table, ...conflicts].map((row) => row.trimEnd()).join('\n')}\n`,
  };
};

function rowOf(task: Task, now: Date): string[] {
  return [
    plainLine(task.slug),
    task.state,
    task.runs.at(-1)?.status.state ?? '-',
    plainLine(task.agent),
    verdictWord(task),
    ageText(task.createdAt, now),
    plainLine(task.packet.objective),
  ];
}

/** A Verdict on an earlier state of the files says nothing of the present one. */
function verdictWord(task: Task): string {
  const judgement = verdictOn(task);
  if (judgement === undefined) return '-';
  return judgement.isCurrent ? judgement.verdict.verdict : `(${judgement.verdict.verdict})`;
}
