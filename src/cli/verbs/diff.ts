import type { TargetCommand } from '../arguments';
import { taskOf, type VerbRunner } from '../verbContext';

export const diff: VerbRunner<TargetCommand> = async ({ target, isJson }, context) => {
  const { id } = await taskOf(target, context);
  if (isJson) return { exitCode: 0, data: { files: await context.tasks.changes(id) } };
  // Bytes as git gave them: decoding would change files that are not UTF-8.
  return { exitCode: 0, data: null, text: await context.tasks.patch(id) };
};
