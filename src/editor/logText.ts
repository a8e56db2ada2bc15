import { TributaryError } from '../base/errors';

/** One line of a log: the message, then its facts; errors with their whole chain of causes. */
export function logText(message: string, facts: Readonly<Record<string, unknown>> = {}): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name}=${valueText(value)}`);
  return [message, ...parts].join(' ');
}

function valueText(value: unknown): string {
  if (value instanceof Error) return errorText(value);
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // A value that refers to itself has no JSON; its kind is better than nothing.
    return String(value);
  }
}

/** Code, message and place of an error, then those of its causes. */
export function errorText(error: unknown): string {
  const lines: string[] = [];
  let current: unknown = error;
  // Ten is more than any chain of ours; a chain that bites its tail must end.
  for (let depth = 0; depth < 10 && current !== undefined; depth += 1) {
    lines.push(`${depth === 0 ? '' : '  caused by '}${oneError(current)}`);
    current = current instanceof Error ? current.cause : undefined;
  }
  return lines.join('\n');
}

function oneError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof TributaryError)) return error.stack ?? `${error.name}: ${error.message}`;
  const details = Object.keys(error.details).length === 0 ? '' : ` ${valueText(error.details)}`;
  return `${error.code}: ${error.message}${details}`;
}
