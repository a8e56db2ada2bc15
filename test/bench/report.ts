import { median, type Sample } from './measure';

/** What the product took beside what a floor took, in the same rounds. */
export interface Comparison {
  /** What the product is compared with. */
  readonly label: string;
  readonly product: readonly Sample[];
  readonly floor: readonly Sample[];
}

/** One line for each measured quantity: the ratio of medians, how far single rounds lay apart, the medians themselves. */
export function reportOf({ label, product, floor }: Comparison): string {
  return (['wall', 'cpu'] as const)
    .flatMap((kind) => {
      const ours = valuesOf(product, kind);
      const theirs = valuesOf(floor, kind);
      if (ours.length === 0 || theirs.length !== ours.length) return [];
      const ratios = ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
      const ratio = `${(median(ours) / median(theirs)).toFixed(2)}x`;
      const range = `rounds ${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)}`;
      const medians = `product ${ms(median(ours))}, ${label} ${ms(median(theirs))}`;
      return [`  ${kind.padEnd(4)}  ${ratio.padStart(6)}   ${range.padEnd(20)}  ${medians}`];
    })
    .join('\n');
}

function valuesOf(samples: readonly Sample[], kind: 'wall' | 'cpu'): number[] {
  return samples.flatMap((sample) => sample[kind] ?? []);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
