import * as vscode from 'vscode';
import { chosenSetup } from '../../model/foreignSetup';
import { visibleText } from '../../model/plainText';
import type { SetupPlan } from '../../model/setup';
import type { LiveBoard } from '../liveBoard';
import { setupSettings } from '../setupSettings';
import type { CommandContext } from './commandContext';

type Plan = Partial<SetupPlan>;

/**
 * How a new Task's worktree is made ready. Commands that the workspace brings, by its settings or in a file of another
 * tool, are run only after the user saw them and agreed, once per repository and list. `undefined`: the user left.
 */
export async function agreedSetup(context: CommandContext, board: LiveBoard): Promise<Plan | undefined> {
  const folder = vscode.Uri.file(board.core.repository.root);
  const { plan, isFromWorkspace, problems } = setupSettings(folder);
  if (problems.length > 0)
    void context.dialogs.say(
      'warning',
      vscode.l10n.t('Settings of Tributary that cannot be used count as not set: {0}', problems.join('; ')),
    );
  if (commandsOf(plan).length === 0) return withForeign(context, board, plan);
  if (!isFromWorkspace) return plan;
  const source = vscode.l10n.t('the settings of the workspace');
  const answer = await decided(context, board, { source, plan });
  if (answer === 'refused') return { ...plan, commands: [], teardown: [] };
  return answer === 'allowed' ? plan : undefined;
}

/** Where the user set nothing up: what a file of another tool names, if the user wants that. */
async function withForeign(context: CommandContext, board: LiveBoard, plan: Plan): Promise<Plan | undefined> {
  const found = chosenSetup(await board.core.tasks.foreignSetups());
  if (found === undefined) return plan;
  const include = [...(plan.include ?? []), ...found.plan.include];
  const foreign = { ...plan, ...found.plan, include };
  const answer = await decided(context, board, { source: found.path, plan: foreign, notes: found.notes });
  // Nobody is asked about the same file at every Task.
  if (answer === 'refused') await context.consent.decideSetup(board.id, commandsOf(foreign), false);
  if (answer === 'left') return undefined;
  return answer === 'allowed' ? foreign : plan;
}

async function decided(
  { consent, dialogs }: CommandContext,
  board: LiveBoard,
  {
    source,
    plan,
    notes = [],
  }: { readonly source: string; readonly plan: Plan; readonly notes?: readonly string[] },
): Promise<'allowed' | 'refused' | 'left'> {
  const commands = commandsOf(plan);
  const before = consent.setupDecision(board.id, commands);
  if (before !== undefined) return before ? 'allowed' : 'refused';
  const [allow, without] = [vscode.l10n.t('Run Them'), vscode.l10n.t('Start Without')];
  const chosen = await dialogs.decide(
    vscode.l10n.t('Let the set-up commands of this workspace run in new worktrees of {0}?', board.label),
    vscode.l10n.t(
      'They come from {0} and run with your rights:\n\n{1}\n\nYou are asked again when they change.',
      source,
      [...commands, ...(notes.length === 0 ? [] : ['', vscode.l10n.t('Not taken over:'), ...notes])]
        .map(visibleText)
        .join('\n'),
    ),
    allow,
    without,
  );
  if (chosen === without) return 'refused';
  if (chosen !== allow) return 'left';
  await consent.decideSetup(board.id, commands, true);
  return 'allowed';
}

function commandsOf({ commands = [], teardown = [] }: Plan): string[] {
  return [...commands, ...teardown];
}
