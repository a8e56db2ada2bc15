import { TributaryError } from '../base/errors';
import type { MarkTargets } from '../model/marks';
import type { TaskHunks } from '../tasks/taskApi';

/** The files and whole hunk ids that a command line means. Throws `unknownId`, `ambiguousId`. */
export function resolveSelection(
  { files }: TaskHunks,
  named: Required<MarkTargets>,
): { paths: string[]; hunks: string[] } {
  const ids = files.flatMap((file) => file.hunks.map((hunk) => hunk.id));
  const known = new Set(files.map((file) => file.path));
  const unknownPath = named.paths.find((path) => !known.has(path));
  if (unknownPath !== undefined)
    throw problem('unknownId', `the Task changes no file ${JSON.stringify(unknownPath)}`, unknownPath);
  return { paths: [...named.paths], hunks: named.hunks.map((text) => resolveHunk(ids, text)) };
}

function resolveHunk(ids: readonly string[], text: string): string {
  const found = ids.filter((id) => id.startsWith(text));
  const [only] = found;
  if (only === undefined)
    throw problem('unknownId', `the Task has no hunk ${JSON.stringify(text)}, or has it no more`, text);
  if (found.length === 1 || found.includes(text)) return found.includes(text) ? text : only;
  throw problem(
    'ambiguousId',
    `${JSON.stringify(text)} begins more than one hunk: ${found.join(', ')}`,
    text,
  );
}

function problem(code: 'unknownId' | 'ambiguousId', message: string, text: string): TributaryError {
  const hint = '"tributary hunks TASK" lists files and hunks as they are now.';
  return new TributaryError(code, message, { details: { text, hint } });
}
