import { plainLine } from '../../model/plainText';
import type { MarkedFile, MarkedHunk } from '../../tasks/taskApi';
import type { HunksCommand } from '../arguments';
import { taskData } from '../records';
import { fileText } from '../texts';
import { taskOf, type VerbRunner } from '../verbContext';

export const hunks: VerbRunner<HunksCommand> = async ({ target, sinceReview }, context) => {
  const { id } = await taskOf(target, context);
  const { task, tree, files } = await context.tasks.hunks(id, { since: sinceReview ? 'review' : 'base' });
  const none = sinceReview ? 'Nothing changed since your review.\n' : 'Nothing was changed.\n';
  const text = files.flatMap((file) => fileRows(file)).join('\n');
  return {
    exitCode: 0,
    data: { task: taskData(task), ...(tree === undefined ? {} : { tree }), files },
    text: text === '' ? none : `${text}\n`,
  };
};

function fileRows(file: MarkedFile): string[] {
  return [`${fileText(file)}${marksText(file)}`, ...file.hunks.map((hunk) => `  ${hunkText(hunk)}`)];
}

function hunkText(hunk: MarkedHunk): string {
  const { id, oldStart, oldLines, newStart, newLines, firstLine } = hunk;
  const place = `-${rangeText(oldStart, oldLines)} +${rangeText(newStart, newLines)}`;
  return `${id} ${place}${marksText(hunk)}  ${plainLine(firstLine)}`;
}

function rangeText(start: number, lines: number): string {
  return lines === 1 ? `${start}` : `${start},${lines}`;
}

function marksText(of: Pick<MarkedHunk, 'decision' | 'isReviewed' | 'isLanded'>): string {
  const marks = [
    ...(of.decision === undefined ? [] : [of.decision === 'accept' ? 'to accept' : 'rejected']),
    ...(of.isReviewed ? ['reviewed'] : []),
    ...(of.isLanded ? ['landed'] : []),
  ];
  return marks.length === 0 ? '' : ` [${marks.join(', ')}]`;
}
