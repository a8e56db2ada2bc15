import * as z from 'zod';
import { runIdSchema, taskIdSchema } from '../../model/ids';
import type { Dialogs } from '../dialogs';

const subjectSchema = z.looseObject({
  taskId: taskIdSchema,
  runId: runIdSchema.optional(),
  findingId: z.string().optional(),
  questionId: z.string().optional(),
  path: z.string().optional(),
  hunkId: z.string().optional(),
});
type Subject = z.infer<typeof subjectSchema>;

/**
 * Commands that are being carried out, by what they are about. One that is called again meanwhile, as by a double
 * click, does nothing. A notification ends that: it may stand for long, and the next call is meant.
 */
export class OpenCommands {
  private readonly open = new Map<string, object>();

  /** Runs `body` unless the same is open; it must say things by the dialogs it is given. */
  async once(key: string, dialogs: Dialogs, body: (dialogs: Dialogs) => Promise<void>): Promise<void> {
    if (this.open.has(key)) return;
    const mine = {};
    const end = (): void => {
      if (this.open.get(key) === mine) this.open.delete(key);
    };
    this.open.set(key, mine);
    try {
      await body({
        say: (...said) => {
          end();
          return dialogs.say(...said);
        },
        decide: (...asked) => dialogs.decide(...asked),
        ask: (question) => dialogs.ask(question),
        pick: (question) => dialogs.pick(question),
        pickMany: (question) => dialogs.pickMany(question),
      });
    } finally {
      end();
    }
  }
}

/** What tells one call of a command from another: the command and the row it is about, the selected one by default. */
export function callKey(id: string, argument: unknown, selected: unknown): string {
  const subject = subjectOf(argument) ?? subjectOf(selected);
  if (subject === undefined) return id;
  const { taskId, runId = '', findingId = '', questionId = '', hunkId = '', path = '' } = subject;
  return [id, taskId, runId, findingId, questionId, hunkId, path].join(' ');
}

/** Whether a command is about a Task or something of it, and not one of the view's title bar. */
export function isOfRow(id: string): boolean {
  return /^tributary\.(task|finding|question|file|hunk)\./.test(id) && id !== 'tributary.task.new';
}

/**
 * Whether a menu of a row called, and the row was lost on the way: the editor forgets rows for a moment while it
 * refreshes those above them. It hands over two arguments then, both empty, as a title bar does without a focused
 * row; palette and keys give none.
 */
export function isLostRow(id: string, given: readonly unknown[]): boolean {
  return isOfRow(id) && given.length > 1 && given.every((one) => one === undefined || one === null);
}

function subjectOf(value: unknown): Subject | undefined {
  const parsed = subjectSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
