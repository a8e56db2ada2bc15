import * as z from 'zod';
import { sayAnswered } from '../inboxNotices';
import type { Command, CommandContext } from './commandContext';

const questionSchema = z.looseObject({ questionId: z.string() });

/** Allows the one command that a row asks about. */
export const allowQuestion: Command = {
  id: 'tributary.question.allow',
  run: (context, argument) => answer(context, argument, true),
};

/** Denies it; the agent is told and goes on without. */
export const denyQuestion: Command = {
  id: 'tributary.question.deny',
  run: (context, argument) => answer(context, argument, false),
};

async function answer(context: CommandContext, argument: unknown, isAllowed: boolean): Promise<void> {
  const parsed = questionSchema.safeParse(argument ?? context.view.selection[0]);
  const id = parsed.success ? parsed.data.questionId : context.inbox.pending[0]?.id;
  if (id === undefined || !context.inbox.answer(id, isAllowed)) await sayAnswered(context.dialogs);
}
