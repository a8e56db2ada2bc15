import { clip, plainLine } from '../model/plainText';

/** One line that says what a tool call does; `input` is whatever the model sent. */
export function toolSummary(name: string, input: unknown, width: number): string {
  const text = (key: string): string => {
    const value = fieldOf(input, key);
    return typeof value === 'string' || typeof value === 'number' ? plainLine(String(value)) : '';
  };
  const details = ((): string => {
    switch (name) {
      case 'Read':
      case 'Write':
      case 'Edit':
        return text('file_path');
      case 'Glob':
      case 'Grep':
        return text('path') === '' ? text('pattern') : `${text('pattern')} in ${text('path')}`;
      case 'Bash':
        return text('command');
      case 'Diff':
        return text('path');
      case 'TodoWrite':
        return todosText(fieldOf(input, 'todos'));
      case 'ReportCheck':
        return `${text('result')}: ${text('title')}`;
      case 'ReportFinding':
        return `${text('path')}:${text('line')} ${text('severity')} ${text('title')}`;
      default:
        return plainLine(JSON.stringify(input) ?? '');
    }
  })();
  return clip(`${plainLine(name)} ${details}`.trim(), width);
}

function todosText(todos: unknown): string {
  if (!Array.isArray(todos)) return '';
  const isDone = (todo: unknown): boolean => fieldOf(todo, 'status') === 'completed';
  return `${todos.filter(isDone).length} of ${todos.length} done`;
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}
