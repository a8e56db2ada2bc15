import type { IconName } from './iconPaths';
import { safeLine } from './safeText';
import { t } from './words';

/** The one line that stands for a folded tool call; `input` is whatever the model sent. */
export interface ToolLine {
  readonly icon: IconName;
  /** What is done, in a word or two. */
  readonly verb: string;
  /** To what: a path, a command. */
  readonly subject: string;
  /** Subject is a file that can be opened. */
  readonly path?: string;
}

export function toolLine(name: string, input: unknown): ToolLine {
  const text = (key: string): string => safeLine(rawField(input, key));
  const file = rawField(input, 'file_path');
  const opens = file === '' ? {} : { path: file };
  switch (name) {
    case 'Read':
      return { icon: 'file', verb: t('Read'), subject: text('file_path'), ...opens };
    case 'Write':
      return { icon: 'edit', verb: t('Write'), subject: text('file_path'), ...opens };
    case 'Edit':
      return { icon: 'edit', verb: t('Edit'), subject: text('file_path'), ...opens };
    case 'Glob':
      return { icon: 'search', verb: t('Find files'), subject: placed(text('pattern'), text('path')) };
    case 'Grep':
      return { icon: 'search', verb: t('Search'), subject: placed(text('pattern'), text('path')) };
    case 'Bash':
      return { icon: 'terminal', verb: '$', subject: text('command') };
    case 'Diff':
      return { icon: 'diff', verb: t('Look at the changes'), subject: text('path') };
    case 'TodoWrite':
      return { icon: 'list', verb: t('Plan'), subject: todosText(fieldOf(input, 'todos')) };
    case 'ReportCheck':
      return { icon: 'check', verb: t('Check'), subject: `${text('result')}: ${text('title')}` };
    case 'ReportFinding':
      return {
        icon: 'warning',
        verb: t('Finding'),
        subject: `${text('path')}:${text('line')} ${text('severity')}: ${text('title')}`,
      };
    default:
      return { icon: 'tool', verb: safeLine(name), subject: safeLine(JSON.stringify(input) ?? '') };
  }
}

export function todosOf(input: unknown): readonly { readonly text: string; readonly status: string }[] {
  const todos = fieldOf(input, 'todos');
  if (!Array.isArray(todos)) return [];
  return todos.map((todo: unknown) => ({
    text: rawField(todo, 'content'),
    status: rawField(todo, 'status'),
  }));
}

/** A field of an object as text; anything else is empty. */
export function rawField(input: unknown, key: string): string {
  const value = fieldOf(input, key);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function placed(pattern: string, path: string): string {
  return path === '' ? pattern : t('{0} in {1}', pattern, path);
}

function todosText(todos: unknown): string {
  if (!Array.isArray(todos)) return '';
  const isDone = (todo: unknown): boolean => fieldOf(todo, 'status') === 'completed';
  return t('{0} of {1} done', todos.filter(isDone).length, todos.length);
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}
