/**
 * Why a path of a tree must not be written to a checkout; `undefined` when it may. Beyond what git itself
 * refuses, names that some file system takes for `.git` are refused everywhere.
 */
export function whyUnsafe(path: string): string | undefined {
  if (path === '' || path.includes('\0')) return 'it is no path';
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return 'it is absolute';
  for (const component of path.split('/')) {
    if (component === '') return 'it has an empty part';
    // A backslash is part of a name here and a separator on Windows: both readings must be harmless.
    for (const part of component.split('\\')) {
      if (part === '.' || part === '..') return 'it has a part that is no name';
      if (looksLikeGit(part)) return 'it leads into a git directory';
    }
  }
  return undefined;
}

/** Characters that HFS+ leaves out when it compares names. */
const hfsIgnored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Whether some file system would open `.git` under this name. */
export function looksLikeGit(name: string): boolean {
  const plain = name.replace(hfsIgnored, '').toLowerCase();
  // NTFS drops dots and blanks at the end, reads a colon as a stream, and knows `git~1` as a short name.
  const onNtfs = (plain.split(':')[0] ?? '').replace(/[. ]+$/, '');
  return plain === '.git' || onNtfs === '.git' || /^git~\d+$/.test(onNtfs);
}
