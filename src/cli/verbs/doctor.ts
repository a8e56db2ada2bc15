import { plainLine } from '../../model/plainText';
import type { AilmentReport } from '../../tasks/housekeepingApi';
import type { DoctorCommand } from '../arguments';
import type { Paint } from '../paint';
import type { VerbRunner } from '../verbContext';

export const doctor: VerbRunner<DoctorCommand> = async ({ isFixing }, { tasks, interruption, paint }) => {
  if (isFixing) interruption.begin('files');
  const found = await tasks.housekeeping.examine({ mend: isFixing });
  const left = found.filter(({ weight, outcome }) => weight === 'problem' && outcome?.kind !== 'mended');
  const parts = found.map((one) => ailmentText(one, paint));
  return {
    exitCode: left.length === 0 ? 0 : 1,
    data: { found, left: left.length },
    text: `${[...parts, endText(found, left, isFixing)].join('\n')}\n`,
  };
};

function ailmentText({ weight, what, why, remedy, canMend, outcome }: AilmentReport, paint: Paint): string {
  const word = weight === 'note' ? 'note' : paint.yellow('problem');
  const lines = [`${word}: ${plainLine(what)}`, `  because: ${plainLine(why)}`];
  if (outcome?.kind === 'mended') lines.push(`  ${paint.green('mended')}: ${plainLine(remedy)}`);
  else if (outcome?.kind === 'failed')
    lines.push(`  ${paint.red('not mended')}: ${plainLine(outcome.message)}`);
  else lines.push(`  ${canMend ? '--fix would' : 'to do'}: ${plainLine(remedy)}`);
  return lines.join('\n');
}

function endText(found: readonly AilmentReport[], left: readonly AilmentReport[], isFixing: boolean): string {
  if (left.length === 0) return found.length === 0 ? 'Nothing is wrong.' : 'Nothing is left to mend.';
  const count = `${left.length} ${left.length === 1 ? 'problem' : 'problems'}`;
  const canMend = left.filter((one) => one.canMend).length;
  if (isFixing || canMend === 0) return `${count} left; only you can set that right.`;
  return `${count}; "tributary doctor --fix" would mend ${canMend} of them.`;
}
