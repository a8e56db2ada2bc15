import type { RefChoice } from '../repository';

const kinds = [
  ['refs/heads/', 'branch'],
  ['refs/remotes/', 'remote'],
  ['refs/tags/', 'tag'],
] as const;

/**
 * Lines of `for-each-ref`: name, type, object, and, of an annotated tag, type and object it names, then the
 * subject; NUL between. What names no commit, and a remote's own HEAD, is left out.
 */
export function parseRefs(text: string): RefChoice[] {
  return text.split('\n').flatMap((line) => {
    const [ref = '', type, object = '', tagged, taggedObject = '', subject = ''] = line.split('\0');
    const kind = kinds.find(([prefix]) => ref.startsWith(prefix))?.[1];
    const commit = type === 'commit' ? object : tagged === 'commit' ? taggedObject : '';
    if (kind === undefined || commit === '' || (kind === 'remote' && ref.endsWith('/HEAD'))) return [];
    return [{ kind, ref, commit, subject }];
  });
}
