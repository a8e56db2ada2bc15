import { plainLine } from '../../model/plainText';
import type { SweptItem } from '../../tasks/housekeepingApi';
import type { SweepCommand } from '../arguments';
import { columns, sizeText } from '../texts';
import type { VerbRunner } from '../verbContext';

export const sweep: VerbRunner<SweepCommand> = async ({ isDryRun, olderThanDays }, context) => {
  const { tasks, interruption } = context;
  if (!isDryRun) interruption.begin('files');
  const items = await tasks.housekeeping.sweep({
    isDryRun,
    ...(olderThanDays === undefined ? {} : { olderThanDays }),
  });
  const hasFailed = items.some(({ outcome }) => outcome === 'failed');
  return { exitCode: hasFailed ? 1 : 0, data: { items }, text: textOf(items, isDryRun) };
};

function textOf(items: readonly SweptItem[], isDryRun: boolean): string {
  if (items.length === 0) return 'Nothing to sweep.\n';
  const gone = items.filter(({ outcome }) => outcome !== 'failed');
  const total = gone.reduce(
    (sum, { size }) => ({
      bytes: sum.bytes + (size?.bytes ?? 0),
      isWhole: sum.isWhole && (size?.isWhole ?? true),
    }),
    { bytes: 0, isWhole: true },
  );
  const end = isDryRun ? 'Nothing was removed (--dry-run); it would free' : 'Freed';
  return `${[...columns(items.map(rowOf)), `${end} ${sizeText(total)}.`].join('\n')}\n`;
}

function rowOf({ outcome, kind, slug, size, why, message }: SweptItem): string[] {
  const words = { removed: 'removed', wouldRemove: 'would remove', failed: 'FAILED' };
  return [
    words[outcome],
    kind === 'worktree' ? 'worktree' : 'kept things',
    plainLine(slug),
    size === undefined ? '-' : sizeText(size),
    plainLine(message === undefined ? why : `${why}; ${message}`),
  ];
}
