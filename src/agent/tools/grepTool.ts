import * as z from 'zod';
import type { CommandResult } from '../../process/runCommand';
import { answer, failure } from './outcome';
import { resolveInside } from './paths';
import { fallbackNote, newestFirst, pathsIn, runSearch, type Searcher } from './searching';
import type { Tool, ToolOutcome } from './tool';

const defaultHeadLimit = 250;
const maxAnswerLength = 30_000;
const maxLineLength = 1_000;

const lines = z.number().int().nonnegative().optional();
const input = z.object({
  pattern: z.string().min(1).describe('regular expression'),
  path: z.string().describe('file or folder, default the root').optional(),
  glob: z.string().optional(),
  type: z.string().describe('such as ts, py').optional(),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .describe('default files_with_matches')
    .optional(),
  '-i': z.boolean().describe('ignore case').optional(),
  '-n': z.boolean().describe('line numbers, default true').optional(),
  '-A': lines,
  '-B': lines,
  '-C': lines,
  head_limit: z.number().int().positive().describe(`lines or files, default ${defaultHeadLimit}`).optional(),
  multiline: z.boolean().optional(),
});
type Input = z.infer<typeof input>;

export const grepTool: Tool<Input> = {
  name: 'Grep',
  description: 'Searches file contents with ripgrep; ignored files are left out.',
  input,
  isCommand: false,
  async run(wish, call, context) {
    const where = await resolveInside(wish.path ?? '.', context, 'read');
    if (where.kind === 'refused') return failure(where.message);
    if (!where.exists) return failure(`${wish.path}: no such file or folder.`);
    const target = where.shown === '.' ? './' : where.shown;
    const run = (searcher: Searcher, args: readonly string[]): Promise<CommandResult> =>
      runSearch(searcher, args, { context, call, cwd: context.root });
    if (context.ripgrepPath !== '') {
      const result = await run('ripgrep', ripgrepArgs(wish, target));
      if (result.reason !== 'notStarted') return outcomeOf(wish, result, { root: context.root, note: '' });
    }
    if (wish.multiline || wish.type !== undefined) {
      return failure('multiline and type need ripgrep, which was not found. Use glob, or Bash.');
    }
    const result = await gitGrep(wish, target, run);
    return outcomeOf(wish, result, { root: context.root, note: fallbackNote });
  },
};

/** Everything that a model wrote goes in with `=` or behind `--`, so that none of it can be an option. */
function ripgrepArgs(wish: Input, target: string): string[] {
  const mode = wish.output_mode ?? 'files_with_matches';
  return [
    '--no-heading',
    '--with-filename',
    ...(mode === 'files_with_matches' ? ['--files-with-matches', '--null'] : []),
    ...(mode === 'count' ? ['--count'] : []),
    ...(mode === 'content'
      ? [...contentArgs(wish), `--max-columns=${maxLineLength}`, '--max-columns-preview']
      : []),
    ...(wish['-i'] ? ['--ignore-case'] : []),
    ...(wish.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(wish.type === undefined ? [] : [`--type=${wish.type}`]),
    ...(wish.glob === undefined ? [] : [`--glob=${wish.glob}`]),
    '--glob=!.git',
    `--regexp=${wish.pattern}`,
    '--',
    target,
  ];
}

function contentArgs(wish: Input): string[] {
  const around = (['-A', '-B', '-C'] as const).flatMap((name) => {
    const count = wish[name];
    return count === undefined ? [] : [`${name}${count}`];
  });
  return [wish['-n'] === false ? '--no-line-number' : '--line-number', ...around];
}

/** git knows the same files; Perl expressions are the nearest to ripgrep's, where git was built with them. */
async function gitGrep(
  wish: Input,
  target: string,
  run: (searcher: Searcher, args: readonly string[]) => Promise<CommandResult>,
): Promise<CommandResult> {
  const mode = wish.output_mode ?? 'files_with_matches';
  const args = (syntax: string): string[] => [
    'grep',
    syntax,
    '--untracked',
    '-I',
    ...(mode === 'files_with_matches' ? ['-l', '-z'] : []),
    ...(mode === 'count' ? ['-c'] : []),
    ...(mode === 'content' ? contentArgs(wish) : []),
    ...(wish['-i'] ? ['-i'] : []),
    '-e',
    wish.pattern,
    '--',
    ...pathspecs(target, wish.glob),
  ];
  const result = await run('git', args('-P'));
  const hasNoPerl =
    result.exitCode === 128 && /not compiled|USE_LIBPCRE/.test(result.stderr.toString('utf8'));
  return hasNoPerl ? run('git', args('-E')) : result;
}

function pathspecs(target: string, glob: string | undefined): string[] {
  const folder = target === './' ? '' : `${target}/`;
  if (glob === undefined) return [`:(literal)${target === './' ? '.' : target}`];
  return [`:(glob)${folder}${glob.includes('/') ? glob.replace(/^\//, '') : `**/${glob}`}`];
}

async function outcomeOf(
  wish: Input,
  result: CommandResult,
  { root, note }: { root: string; note: string },
): Promise<ToolOutcome> {
  if (result.reason !== 'exited') return failure(`Grep did not finish: ${result.reason}. Narrow the search.`);
  const hasFailed = result.exitCode !== 0 && result.exitCode !== 1;
  if (hasFailed && result.stdout.length === 0) {
    return failure(`Grep failed: ${result.stderr.toString('utf8').trim() || `exit code ${result.exitCode}`}`);
  }
  const isNames = (wish.output_mode ?? 'files_with_matches') === 'files_with_matches';
  const all = isNames
    ? await newestFirst(root, pathsIn(result.stdout))
    : result.stdout.toString('utf8').replace(/\n$/, '').split('\n');
  const found = all.map((line) => line.replace(/^\.\//, '')).filter((line) => line !== '' || !isNames);
  if (result.stdout.length === 0 || found.length === 0)
    return answer(['No matches.', note].join('\n').trim());
  return answer(shortened(found, wish.head_limit ?? defaultHeadLimit, note));
}

function shortened(found: readonly string[], limit: number, note: string): string {
  const shown: string[] = [];
  let length = 0;
  for (const line of found.slice(0, limit)) {
    const cut = line.length > maxLineLength + 300 ? `${line.slice(0, maxLineLength)}...` : line;
    length += cut.length + 1;
    if (length > maxAnswerLength) break;
    shown.push(cut);
  }
  const rest = found.length - shown.length;
  const notes = [rest > 0 ? `(${rest} more; narrow the search or raise head_limit)` : '', note];
  return [...shown, ...notes.filter((line) => line !== '')].join('\n');
}
