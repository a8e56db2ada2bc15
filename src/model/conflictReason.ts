import type { Conflict } from './landing';

/** Why a file conflicts; each surface has its own words for it. */
export type ConflictReason =
  | 'markers'
  | 'kept'
  | 'sameLines'
  | 'changedAndDeleted'
  | 'bothAdded'
  | 'binary'
  | 'fileAndFolder'
  | 'fileAndLink'
  | 'submodule'
  | 'untracked'
  | 'staged'
  | 'renamed';

const reasons: Readonly<Record<string, ConflictReason>> = {
  markers: 'markers',
  kept: 'kept',
  content: 'sameLines',
  contents: 'sameLines',
  'modify/delete': 'changedAndDeleted',
  'add/add': 'bothAdded',
  binary: 'binary',
  'file/directory': 'fileAndFolder',
  'distinct modes': 'fileAndLink',
  submodule: 'submodule',
  untracked: 'untracked',
  staged: 'staged',
};

/** The reason behind the kind that git, or a preview of ours, gives; `undefined` for one that is not known. */
export function reasonOf(kind: string): ConflictReason | undefined {
  return reasons[kind] ?? (kind.startsWith('rename') ? 'renamed' : undefined);
}

/** What the message has to say beyond the reason; of lines and pictures that is nothing. */
export function saidBeyond({ kind, message }: Conflict): string {
  const reason = reasonOf(kind);
  const isSaid = reason === 'sameLines' || reason === 'binary' || reason === 'bothAdded';
  return isSaid || isLeft(kind) ? '' : message.replace(/^CONFLICT \([^)]*\): /, '');
}

/** Whether all of them are what an earlier merge into the Worktree left there to be resolved. */
export function areLeft(conflicts: readonly Pick<Conflict, 'kind'>[]): boolean {
  return conflicts.every(({ kind }) => isLeft(kind));
}

function isLeft(kind: string): boolean {
  return kind === 'markers' || kind === 'kept';
}
