import { toTributaryError } from '../../base/errors';
import { alarmHeadline, alarmLines } from '../../model/alarm';
import type { FileChange } from '../../model/changes';
import { cutOffText } from '../../model/cutOff';
import type { LandedPart } from '../../model/landing';
import { baseText } from '../../model/packet';
import { plainLine, plainText } from '../../model/plainText';
import type { Run } from '../../model/run';
import { currentVerdict, openAlarms, type Task, verdictOn } from '../../model/task';
import type { TaskSnapshot } from '../../tasks/housekeepingApi';
import type { TargetCommand } from '../arguments';
import { describeError } from '../messages';
import { conflictsOf } from '../overlapTexts';
import type { Paint } from '../paint';
import { nextSteps, stepLine, taskData } from '../records';
import { setupRows } from '../setupTexts';
import { branchText, fileText, keptRows, runText, usageText, verdictText } from '../texts';
import type { VerbContext, VerbRunner } from '../verbContext';

export const show: VerbRunner<TargetCommand> = async ({ target, dismissesAlarms }, context) => {
  const { task: found, run } = await context.tasks.find(target);
  const task = dismissesAlarms === true ? await context.tasks.dismissAlarms(found.id) : found;
  const files = await filesOf(task, context);
  const { overlaps, conflicts, isStuck } = await conflictsOf(task, context);
  const next = [...(isStuck ? [stepLine(task, 'resolve')] : []), ...nextSteps(task)];
  const snapshots = await snapshotsOf(task, context);
  const parts = [
    taskText(task, context.paint),
    alarmText(task, context.paint),
    task.cutOff === undefined ? '' : `${plainLine(cutOffText(task.slug, task.cutOff))}\n`,
    section('Set-up', task.setup === undefined ? [] : setupRows(task.setup), context.paint),
    run === undefined ? '' : answerText(run, context.paint),
    files === undefined ? '' : section('Files', files.map(fileText), context.paint),
    section('Landed and standing', landedRows(task), context.paint),
    section('Snapshots', snapshots.map(snapshotText), context.paint),
    section(
      'Messages not sent yet',
      task.messages.map(({ text }) => plainLine(text)),
      context.paint,
    ),
    section('Conflicts', conflicts, context.paint),
    judgement(task, context.paint),
    section('Next', next, context.paint),
  ];
  return {
    exitCode: 0,
    data: {
      task: taskData(task),
      ...(run === undefined ? {} : { run }),
      files,
      overlaps,
      snapshots,
      verdict: currentVerdict(task),
      next,
    },
    text: parts.filter((part) => part !== '').join('\n'),
  };
};

/** What a Task changed; `undefined`, and said, where it cannot be found out: the rest is worth showing. */
async function filesOf(
  task: Task,
  { tasks, report }: VerbContext,
): Promise<readonly FileChange[] | undefined> {
  try {
    return await tasks.changes(task.id);
  } catch (error) {
    report.warn(describeError(toTributaryError(error), task.slug).message);
    return undefined;
  }
}

/** None, and said, where git cannot tell: the rest is worth showing. */
async function snapshotsOf(task: Task, { tasks, report }: VerbContext): Promise<readonly TaskSnapshot[]> {
  try {
    return await tasks.snapshots(task.id);
  } catch (error) {
    report.warn(describeError(toTributaryError(error), task.slug).message);
    return [];
  }
}

function snapshotText({ number, at, runId, turn = 0, isNewest }: TaskSnapshot): string {
  const after = turn === 0 ? `as it stood after ${runId}` : `after ${runId}:${turn}`;
  const origin = runId === undefined ? 'kept before what a check had left was taken out' : after;
  return `${number} ${at} ${plainLine(origin)}${isNewest ? ' (the newest)' : ''}`;
}

function taskText(task: Task, paint: Paint): string {
  const { base } = task.packet.repository;
  const behind = base.behind !== undefined && base.behind > 0 ? `, ${base.behind} behind its upstream` : '';
  const rows = [
    `${paint.bold(plainLine(task.slug))} ${task.id}`,
    `  ${plainLine(task.packet.objective)}`,
    `  state ${task.state}${task.pending === undefined ? '' : `, on the way to ${task.pending.to}`}`,
    `  agent ${plainLine(task.agent)}`,
    `  base ${plainLine(baseText(base))} ${base.commit}${behind}`,
  ];
  const moved = task.movedBases.at(-1);
  if (moved !== undefined) rows.push(`  your checkout as of ${moved.at} was merged in: ${moved.commit}`);
  // An ended Task keeps the names, for the day it is brought back; the folder and the branch are gone.
  if (task.state === 'open') {
    if (task.branch !== undefined) rows.push(`  branch ${branchText(task)}`);
    if (task.worktreePath !== undefined) rows.push(`  worktree ${plainLine(task.worktreePath)}`);
  }
  rows.push(...keptRows(task).map((row) => `  ${row}`));
  rows.push(...task.packet.acceptanceTests.map(({ command }) => `  check ${plainLine(command)}`));
  return `${rows.join('\n')}\n\n${section('Runs', task.runs.map(runText), paint)}`;
}

function alarmText(task: Task, paint: Paint): string {
  const rows = openAlarms(task).flatMap((alarm) => [
    plainLine(`${alarmHeadline(alarm)}${alarm.command === undefined ? '' : ` ${alarm.command}`}`),
    ...alarmLines(alarm).map((line) => `  ${plainLine(line)}`),
  ]);
  if (rows.length === 0) return '';
  const seen = `If all of this was you: tributary show ${plainLine(task.slug)} --dismiss-alarms`;
  return section('Alarms', [...rows, seen], paint);
}

/** What `undo` can take back, the last first. */
function landedRows(task: Task): string[] {
  const standing = task.landings.filter((landing) => landing.undoneAt === undefined);
  return standing
    .map(
      ({ at, part }) =>
        `${at} ${part === undefined ? (standing.length > 1 ? 'the rest' : 'the whole change') : partText(part)}`,
    )
    .reverse();
}

function partText({ selection: { paths, hunks } }: LandedPart): string {
  const count = (number: number, word: string): string[] =>
    number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`];
  return `a part: ${[...count(paths.length, 'file'), ...count(hunks.length, 'hunk')].join(', ')}`;
}

function answerText(run: Run, paint: Paint): string {
  const { status } = run;
  const rows = [usageText(run.usage)];
  if ('end' in status) {
    const why = plainLine(status.end.message || status.end.reason);
    rows.push(`ended ${status.end.at}: ${why}`);
  }
  if (run.answer !== undefined) rows.push(...plainText(run.answer.summary).split('\n'));
  return section(run.id, rows, paint);
}

function judgement(task: Task, paint: Paint): string {
  const judgement = verdictOn(task);
  if (judgement === undefined) return 'Not verified.\n';
  const stale = judgement.isCurrent
    ? ''
    : 'The files changed since; as they are now they are not verified.\n';
  return `${verdictText(judgement.verdict, paint)}${stale}`;
}

function section(title: string, rows: readonly string[], paint: Paint): string {
  return rows.length === 0 ? '' : `${[paint.bold(title), ...rows.map((row) => `  ${row}`)].join('\n')}\n`;
}
