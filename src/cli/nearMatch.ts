/** The candidate that `text` most likely meant; `undefined` when none is close. */
export function nearMatch(text: string, candidates: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best !== undefined && best.distance <= Math.max(1, Math.floor(wanted.length / 3)))
    return best.candidate;
  const completed = candidates.filter((candidate) => candidate.startsWith(wanted));
  return wanted.length > 1 && completed.length === 1 ? completed[0] : undefined;
}

/** Insertions, deletions and replacements between two short strings; a swap of neighbours counts as one. */
function editDistance(a: string, b: string): number {
  const cost: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  const at = (i: number, j: number): number => cost[i]?.[j] ?? (i === 0 ? j : Number.POSITIVE_INFINITY);
  for (let i = 0; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = i === 0 ? [j] : [at(i - 1, j) + 1, at(i, j - 1) + 1];
      if (i > 0) steps.push(at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (isSwap) steps.push(at(i - 2, j - 2) + 1);
      const row = cost[i];
      if (row !== undefined) row[j] = Math.min(...steps);
    }
  }
  return at(a.length, b.length);
}
