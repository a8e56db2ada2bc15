import { stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import picomatch from 'picomatch';
import * as z from 'zod';
import { answer, failure } from './outcome';
import { isInside, resolveInside } from './paths';
import { globOptions } from './scope';
import { fallbackNote, listFiles, newestFirst } from './searching';
import type { Tool } from './tool';

const maxShown = 100;
/** Beyond this many hits their times are not looked up. */
const maxSorted = 20_000;

const input = z.object({
  pattern: z.string().min(1).describe('such as src/**/*.ts'),
  path: z.string().describe('folder, default the root').optional(),
});
type Input = z.infer<typeof input>;

export const globTool: Tool<Input> = {
  name: 'Glob',
  description: 'Finds files by glob, newest first; ignored files are left out.',
  input,
  isCommand: false,
  async run(wish, call, context) {
    const folder = await resolveInside(wish.path ?? '.', context, 'read');
    if (folder.kind === 'refused') return failure(folder.message);
    const isFolder = (await stat(folder.absolute).catch(() => undefined))?.isDirectory();
    if (!isFolder) return failure(`${wish.path ?? '.'} is not a folder.`);
    const pattern = relativePattern(wish.pattern, folder.absolute);
    if (pattern === undefined) {
      return failure(`${wish.pattern} leaves the folder that is searched. Patterns are relative to it.`);
    }
    const listed = await listFiles(context, call, folder.absolute);
    if ('error' in listed) return failure(`Glob failed: ${listed.error}`);
    const isMatch = picomatch(pattern, globOptions);
    const hits = listed.files.map((file) => file.split(sep).join('/')).filter((file) => isMatch(file));
    const sorted =
      hits.length > maxSorted ? hits.slice(0, maxSorted) : await newestFirst(folder.absolute, hits);
    const notes = listed.searcher === 'git' ? [fallbackNote.replace('git grep', 'git ls-files')] : [];
    if (sorted.length === 0) return answer(['No files found.', ...notes].join('\n'));
    if (hits.length > maxShown)
      notes.unshift(`(${maxShown} of ${hits.length} files shown; narrow the pattern)`);
    const prefix = folder.shown === '.' ? '' : `${folder.shown}/`;
    return answer([...sorted.slice(0, maxShown).map((file) => `${prefix}${file}`), ...notes].join('\n'));
  },
};

/** The pattern seen from the folder; `undefined` when it leads out of it. */
function relativePattern(pattern: string, folder: string): string | undefined {
  let inner = pattern.replace(/^\.\//, '');
  if (isAbsolute(inner)) {
    if (!isInside(inner, folder)) return undefined;
    inner = relative(folder, inner).split(sep).join('/');
  }
  return inner.split('/').includes('..') ? undefined : inner;
}
