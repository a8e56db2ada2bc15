import type { Command } from './arguments';
import type { Outcome } from './report';
import type { VerbContext } from './verbContext';
import { accept } from './verbs/accept';
import { conflicts } from './verbs/conflicts';
import { diff } from './verbs/diff';
import { discard } from './verbs/discard';
import { doctor } from './verbs/doctor';
import { fix } from './verbs/fix';
import { hunks } from './verbs/hunks';
import { list } from './verbs/list';
import { mark } from './verbs/mark';
import { mergeIn } from './verbs/mergeIn';
import { resolve } from './verbs/resolve';
import { restore } from './verbs/restore';
import { resume } from './verbs/resume';
import { run } from './verbs/run';
import { show } from './verbs/show';
import { stop } from './verbs/stop';
import { sweep } from './verbs/sweep';
import { undo } from './verbs/undo';
import { verify } from './verbs/verify';
import { worktrees } from './verbs/worktrees';

const byTarget = { 'merge-in': mergeIn, show, diff, discard, stop };
const byAgents = { verify, fix, resume, resolve };

/** The one table of verbs. */
export function perform(command: Command, context: VerbContext): Promise<Outcome> {
  switch (command.verb) {
    case 'run':
      return run(command, context);
    case 'list':
      return list(command, context);
    case 'conflicts':
      return conflicts(command, context);
    case 'worktrees':
      return worktrees(command, context);
    case 'sweep':
      return sweep(command, context);
    case 'doctor':
      return doctor(command, context);
    case 'restore':
      return restore(command, context);
    case 'accept':
      return accept(command, context);
    case 'hunks':
      return hunks(command, context);
    case 'mark':
      return mark(command, context);
    case 'undo':
      return undo(command, context);
    case 'verify':
    case 'fix':
    case 'resume':
    case 'resolve':
      return byAgents[command.verb](command, context);
    default:
      return byTarget[command.verb](command, context);
  }
}
