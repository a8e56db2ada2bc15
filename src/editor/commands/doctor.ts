import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import type { AilmentReport } from '../../tasks/housekeepingApi';
import type { LiveBoard } from '../liveBoard';
import type { Command, CommandContext } from './commandContext';
import { whileShown } from './looking';
import { boardOf } from './targets';

/** A modal question is as high as its text. */
const shownLines = 15;

type Choice = vscode.QuickPickItem & { readonly ailment?: AilmentReport };

/** Says what is wrong with the Worktrees, refs and records of a repository, and mends what can be mended when told to. */
export const doctor: Command = {
  id: 'tributary.doctor',
  async run(context, argument) {
    const title = vscode.l10n.t('Doctor');
    const board = await boardOf(context, title, argument);
    if (board === undefined) return;
    const looking = vscode.l10n.t('Tributary: looking for what is wrong');
    const found = await whileShown(looking, () => board.core.tasks.housekeeping.examine());
    if (found.length === 0) {
      await context.dialogs.say('info', vscode.l10n.t('Nothing is wrong.'));
      return;
    }
    const mendable = found.filter(({ canMend }) => canMend);
    const reply = await context.dialogs.pick({
      title,
      placeHolder: vscode.l10n.t('Choose one to read all of it'),
      items: [...mendAll(mendable), ...problemsFirst(found).map(choiceOf)],
    });
    if (reply.kind !== 'given') return;
    const { ailment } = reply.value;
    if (
      ailment === undefined
        ? await isMendWanted(context, mendable)
        : await isReadAndWanted(context, ailment, mendable)
    )
      await mend(context, board);
  },
};

function mendAll(mendable: readonly AilmentReport[]): Choice[] {
  if (mendable.length === 0) return [];
  return [
    {
      label: mendTitle(mendable),
      detail: vscode.l10n.t('Says first what would be done'),
      iconPath: new vscode.ThemeIcon('wrench'),
    },
  ];
}

function mendTitle({ length }: readonly AilmentReport[]): string {
  return length === 1
    ? vscode.l10n.t('Fix the one that Tributary can fix…')
    : vscode.l10n.t('Fix the {0} that Tributary can fix…', length);
}

function problemsFirst(found: readonly AilmentReport[]): readonly AilmentReport[] {
  const isNote = ({ weight }: AilmentReport): number => (weight === 'note' ? 1 : 0);
  return [...found].sort((one, other) => isNote(one) - isNote(other));
}

function choiceOf(ailment: AilmentReport): Choice {
  const isProblem = ailment.weight === 'problem';
  return {
    label: plainLine(ailment.what),
    description: isProblem ? vscode.l10n.t('problem') : vscode.l10n.t('note'),
    detail: remedyText(ailment),
    iconPath: new vscode.ThemeIcon(isProblem ? 'warning' : 'info'),
    ailment,
  };
}

function remedyText({ canMend, remedy }: AilmentReport): string {
  const text = plainLine(remedy);
  return canMend ? vscode.l10n.t('Fix would: {0}', text) : vscode.l10n.t('To do: {0}', text);
}

/** One of them in full; `true`: the user wants to mend. */
async function isReadAndWanted(
  context: CommandContext,
  ailment: AilmentReport,
  mendable: readonly AilmentReport[],
): Promise<boolean> {
  const because = vscode.l10n.t('Because: {0}', plainLine(ailment.why));
  const fixes = mendable.length === 0 ? [] : [mendTitle(mendable)];
  const detail = [because, '', remedyText(ailment)].join('\n');
  const chosen = await context.dialogs.decide(plainLine(ailment.what), detail, ...fixes);
  return chosen !== undefined && isMendWanted(context, mendable);
}

async function isMendWanted(
  { dialogs }: CommandContext,
  mendable: readonly AilmentReport[],
): Promise<boolean> {
  const fix = vscode.l10n.t('Fix');
  const lines = mendable.map(({ what, remedy }) => `• ${plainLine(what)}\n   ${plainLine(remedy)}`);
  const more = lines.length - shownLines;
  const rest = more > 0 ? [vscode.l10n.t('… and {0} more', more)] : [];
  const question =
    mendable.length === 1
      ? vscode.l10n.t('Fix 1 problem?')
      : vscode.l10n.t('Fix {0} problems?', mendable.length);
  const detail = [...lines.slice(0, shownLines), ...rest].join('\n');
  return (await dialogs.decide(question, detail, fix)) === fix;
}

async function mend({ dialogs, log }: CommandContext, board: LiveBoard): Promise<void> {
  const doing = vscode.l10n.t('Tributary: fixing what is wrong');
  const found = await whileShown(doing, () => board.core.tasks.housekeeping.examine({ mend: true }));
  const mended = found.filter(({ outcome }) => outcome?.kind === 'mended');
  const left = found.filter(({ weight, outcome }) => weight === 'problem' && outcome?.kind !== 'mended');
  for (const { what, outcome } of found)
    if (outcome?.kind === 'failed') log.warn('not mended', { what, message: outcome.message });
  const message =
    left.length === 0
      ? vscode.l10n.t('Fixed: {0}. Nothing is left.', mended.length)
      : vscode.l10n.t(
          'Fixed: {0}. Left: {1} ({2}).',
          mended.length,
          left.length,
          left.map(({ what }) => plainLine(what)).join('; '),
        );
  await dialogs.say(left.length === 0 ? 'info' : 'warning', message);
}
