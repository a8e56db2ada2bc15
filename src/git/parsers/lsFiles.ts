import { decodePath, splitBytes } from './pathBytes';

/** An entry of `ls-files --stage -v -z` that needs a look beyond the stat cache. */
export interface SpecialEntry {
  readonly path: string;
  readonly isAssumedUnchanged: boolean;
  readonly isSkipWorktree: boolean;
  readonly isGitlink: boolean;
}

const gitlinkMode = Buffer.from('160000');
// Tags of ordinary entries: cached, and unmerged. Lower case would be assume-unchanged.
const upperH = 0x48;
const upperM = 0x4d;
const tab = 0x09;

/** Hidden entries and gitlinks of `ls-files --stage -v -z`; ordinary ones, nearly all, are skipped undecoded. */
export function parseSpecialEntries(output: Uint8Array): SpecialEntry[] {
  const special: SpecialEntry[] = [];
  for (const line of splitBytes(output)) {
    const tag = line[0] ?? 0;
    const isGitlink = gitlinkMode.equals(line.subarray(2, 8));
    if (!isGitlink && (tag === upperH || tag === upperM)) continue;
    const letter = String.fromCharCode(tag);
    special.push({
      path: decodePath(line.subarray(line.indexOf(tab) + 1)),
      isAssumedUnchanged: letter !== letter.toUpperCase(),
      isSkipWorktree: letter.toUpperCase() === 'S',
      isGitlink,
    });
  }
  return special;
}

export interface IndexEntry {
  readonly mode: string;
  readonly blob: string;
}

/** The entries of `ls-files --stage -z` at `wanted`, stage 0 only. */
export function parseStagedEntries(output: Uint8Array, wanted: ReadonlySet<string>): Map<string, IndexEntry> {
  const entries = new Map<string, IndexEntry>();
  for (const line of splitBytes(output)) {
    const at = line.indexOf(tab);
    const path = decodePath(line.subarray(at + 1));
    if (!wanted.has(path)) continue;
    const [mode, blob, stage] = Buffer.from(line.subarray(0, at)).toString('latin1').split(' ');
    if (mode !== undefined && blob !== undefined && stage === '0') entries.set(path, { mode, blob });
  }
  return entries;
}

/** The paths of `ls-files --unmerged -z`, each once. */
export function parseUnmergedPaths(output: Uint8Array): string[] {
  return [...new Set(splitBytes(output).map((line) => decodePath(line.subarray(line.indexOf(tab) + 1))))];
}
