import type { MarkChange } from '../../model/marks';
import { markPart } from '../review/marking';
import type { Command } from './commandContext';
import { partOf } from './parts';

function marking(id: Command['id'], kind: 'file' | 'hunk', change: MarkChange): Command {
  return {
    id,
    async run(context, argument) {
      const found = await partOf(context, argument, kind);
      if (found === undefined) return;
      await markPart(context.boards, found.part, change);
      context.reviewState.show(found.target.task.id);
    },
  };
}

/** What the user says of a file or hunk; the Worktree is never edited by it. */
export const markCommands: readonly Command[] = [
  marking('tributary.hunk.reject', 'hunk', 'reject'),
  marking('tributary.hunk.unreject', 'hunk', 'undecided'),
  marking('tributary.hunk.markReviewed', 'hunk', 'reviewed'),
  marking('tributary.hunk.unmarkReviewed', 'hunk', 'notReviewed'),
  marking('tributary.file.reject', 'file', 'reject'),
  marking('tributary.file.unreject', 'file', 'undecided'),
  marking('tributary.file.markReviewed', 'file', 'reviewed'),
  marking('tributary.file.unmarkReviewed', 'file', 'notReviewed'),
];
