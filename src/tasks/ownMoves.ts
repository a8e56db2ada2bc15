import type { DriftChange } from '../model/alarm';
import type { LandingRecord } from '../model/landing';

/** A move of the user's branch, or detached HEAD, that a Landing made or took back. */
export interface OwnMove {
  readonly checkout: string;
  /** Full ref name; absent: HEAD was detached. */
  readonly ref?: string;
  readonly from: string;
  readonly to: string;
}

/** What the record says that we moved; nothing for a Landing that writes files only. */
export function movesOf({ checkout, branch, state }: LandingRecord): readonly OwnMove[] {
  if (branch === undefined) return [];
  const { from, to, ref } = branch;
  const place = { checkout, ...(ref === undefined ? {} : { ref }) };
  const there = { ...place, from, to };
  // One that was not taken back never goes the other way by our doing.
  return state === 'undoing' || state === 'undone' ? [there, { ...place, from: to, to: from }] : [there];
}

/** The changes that these moves, one after another, do not explain. */
export function unexplained(
  changes: readonly DriftChange[],
  moves: readonly OwnMove[],
): readonly DriftChange[] {
  if (moves.length === 0) return changes;
  const explains = ({ kind, name, before, after }: DriftChange): boolean => {
    if (kind !== 'ref' && kind !== 'head') return false;
    const along = moves.filter((move) =>
      kind === 'ref' ? move.ref === name : move.ref === undefined && move.checkout === name,
    );
    return before !== undefined && after !== undefined && leads(along, before, after);
  };
  const left = changes.filter((change) => !explains(change));
  if (left.length === changes.length) return changes;
  const explained = changes.filter(explains).map(({ kind, name }) => `${kind} ${name}`);
  const touched = new Set(
    moves
      .filter(({ ref, checkout }) =>
        explained.includes(ref === undefined ? `head ${checkout}` : `ref ${ref}`),
      )
      .map(({ checkout }) => checkout),
  );
  // The index goes with the branch.
  return left.filter(({ kind, name }) => kind !== 'index' || !touched.has(name));
}

function leads(moves: readonly OwnMove[], from: string, to: string): boolean {
  const reached = new Set([from]);
  for (let size = 0; size < reached.size; ) {
    size = reached.size;
    for (const move of moves) if (reached.has(move.from)) reached.add(move.to);
  }
  return reached.has(to);
}
