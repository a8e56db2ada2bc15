import { absentMode } from './diffTree';
import { decodePath, splitBytes } from './pathBytes';

export interface StageEntry {
  readonly mode: string;
  readonly blob: string;
}

/** The versions of one path that a merge could not make one of. */
export interface ConflictStages {
  readonly path: string;
  /** Where git put them in the merged tree: `path` itself, or `path~<commit>` for one that is in the way. */
  readonly places: readonly string[];
  readonly base?: StageEntry;
  readonly ours?: StageEntry;
  readonly theirs?: StageEntry;
}

const sides = { '1': 'base', '2': 'ours', '3': 'theirs' } as const;

/** The conflicted entries of `merge-tree --write-tree -z`, by path; `commits`: the two that were merged. */
export function parseConflictStages(output: Uint8Array, commits: readonly string[]): ConflictStages[] {
  const parts = splitBytes(output).map(decodePath);
  const end = parts.indexOf('', 1);
  const found = new Map<string, ConflictStages>();
  for (const part of parts.slice(1, end < 0 ? parts.length : end)) {
    const match = /^(\d+) ([0-9a-f]+) ([123])\t([\s\S]*)$/.exec(part);
    const [, mode = absentMode, blob = '', stage, place = ''] = match ?? [];
    if (stage !== '1' && stage !== '2' && stage !== '3') continue;
    const path = undecorated(place, commits);
    const before = found.get(path) ?? { path, places: [] };
    const places = [...new Set([...before.places, place])];
    found.set(path, { ...before, places, [sides[stage]]: { mode, blob } });
  }
  return [...found.values()];
}

function undecorated(place: string, commits: readonly string[]): string {
  const at = commits.map((commit) => place.indexOf(`~${commit}`)).find((index) => index > 0);
  return at === undefined ? place : place.slice(0, at);
}
