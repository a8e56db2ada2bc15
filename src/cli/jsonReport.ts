import { plainText } from '../model/plainText';
import type { PermissionQuestion } from '../tasks/permission';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../tasks/taskApi';
import type { CliHost } from './host';
import type { Described } from './messages';
import type { Outcome, Report } from './report';

/** One JSON object a line on stdout, as it happens; `result` last. Nothing else ever goes to stdout. */
export class JsonReport implements Report {
  private readonly host: CliHost;

  constructor(host: CliHost) {
    this.host = host;
  }

  change({ event }: TaskChange): void {
    const { v, at, type, taskId, ...rest } = event;
    this.line({ v, at, type, taskId, ...rest });
  }

  entry({ taskId, runId, entry }: AppendedEntry): void {
    this.line({ v: 1, at: entry.at, type: 'entry', taskId, runId, entry });
  }

  stream({ taskId, runId, event }: StreamedEvent): void {
    // The other live events come whole, in the entry that follows them.
    if (event.type !== 'text.delta') return;
    this.line({ v: 1, at: this.at(), type: 'text.delta', taskId, runId, text: event.text });
  }

  question({ taskId, runId, id, tool, command }: PermissionQuestion): void {
    this.line({ v: 1, at: this.at(), type: 'question', taskId, runId, id, tool, command });
  }

  say(): void {
    // For people only; what it says is in the events and the result.
  }

  warn(text: string): void {
    this.host.stderr.write(`${plainText(text)}\n`);
  }

  error({ code, message, hint }: Described): void {
    this.line({ v: 1, at: this.at(), type: 'error', code, message, hint });
  }

  result({ exitCode, data, error }: Outcome): void {
    if (error !== undefined) this.error(error);
    this.line({ v: 1, at: this.at(), type: 'result', ok: exitCode === 0, exitCode, data: data ?? null });
  }

  private at(): string {
    return this.host.now().toISOString();
  }

  private line(value: Readonly<Record<string, unknown>>): void {
    this.host.stdout.write(`${JSON.stringify(value)}\n`);
  }
}
