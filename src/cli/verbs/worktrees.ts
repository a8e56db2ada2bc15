import { plainLine } from '../../model/plainText';
import type { WorktreeReport } from '../../tasks/housekeepingApi';
import type { ListCommand } from '../arguments';
import { ageText, columns, sizeText } from '../texts';
import type { VerbRunner } from '../verbContext';

export const worktrees: VerbRunner<ListCommand> = async (_command, { tasks, host, paint }) => {
  const report = await tasks.housekeeping.worktrees();
  const [head = '', ...rows] = columns([
    ['TASK', 'STATE', 'CHANGED', 'SIZE', 'USED', 'BRANCH', 'PATH'],
    ...report.worktrees.map((one) => rowOf(one, host.now())),
  ]);
  const strangers = report.strangers.map(
    ({ path, size }) => `  ${plainLine(path)}${size === undefined ? '' : ` (${sizeText(size)})`}`,
  );
  const lines = [
    ...(rows.length === 0 ? ['No worktrees of Tasks.'] : [paint.bold(head), ...rows]),
    ...(strangers.length === 0 ? [] : ['', 'Not ours, never touched:', ...strangers]),
  ];
  return {
    exitCode: 0,
    data: report,
    text: `${lines.map((line) => line.trimEnd()).join('\n')}\n`,
  };
};

function rowOf(one: WorktreeReport, now: Date): string[] {
  return [
    one.slug === undefined ? '-' : plainLine(one.slug),
    stateText(one),
    one.isChanged === undefined ? '?' : one.isChanged ? 'yes' : 'no',
    one.size === undefined ? '-' : sizeText(one.size),
    one.lastUsedAt === undefined ? '?' : ageText(one.lastUsedAt, now),
    plainLine(one.branch).replace(/^refs\/heads\//, ''),
    plainLine(one.path),
  ];
}

/** The Task's state, then what is special about the Worktree. */
function stateText({ taskState, state, stands, openedAt, heldBy }: WorktreeReport): string {
  const special = [
    ...(stands === 'whole' ? [] : [stands === 'gone' ? 'folder gone' : stands]),
    ...(state === 'ready' || state === 'unknown' ? [] : [state]),
    ...(openedAt === undefined ? [] : ['opened']),
    ...(heldBy === undefined ? [] : [heldBy.pid === undefined ? 'in use' : `in use by ${heldBy.pid}`]),
  ];
  return [taskState ?? 'no Task', ...special].join(', ');
}
