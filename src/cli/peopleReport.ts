import { alarmHeadline, alarmLines } from '../model/alarm';
import type { BoardEvent } from '../model/events';
import { baseText } from '../model/packet';
import { plainLine, plainText } from '../model/plainText';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../tasks/taskApi';
import type { CliHost } from './host';
import { LiveView } from './liveView';
import type { Described } from './messages';
import { makePaint, type Paint, wantsColour } from './paint';
import type { Outcome, Report } from './report';
import { phaseWords, providedRows, setupCommandText } from './setupTexts';
import { usageText } from './texts';

/** The readable view: rows on stdout as things happen, errors on stderr. */
export class PeopleReport implements Report {
  private readonly host: CliHost;
  private readonly view: LiveView;
  private readonly paint: Paint;
  private readonly errorPaint: Paint;

  constructor(host: CliHost) {
    this.host = host;
    this.paint = makePaint(wantsColour(host.stdout.isTerminal, host.env));
    this.errorPaint = makePaint(wantsColour(host.stderr.isTerminal, host.env));
    this.view = new LiveView(host.stdout, this.paint);
  }

  change({ task, event }: TaskChange): void {
    const text = this.eventText(event, task.slug);
    if (text !== undefined) this.view.row(text);
  }

  entry({ entry }: AppendedEntry): void {
    this.view.entry(entry);
  }

  stream({ event }: StreamedEvent): void {
    this.view.stream(event);
  }

  question(): void {
    // Its transcript entry is shown, and the terminal asks.
    this.view.endStream();
  }

  say(text: string): void {
    this.view.row(text.replace(/\n$/, ''));
  }

  warn(text: string): void {
    this.view.endStream();
    this.host.stderr.write(`${this.errorPaint.yellow(plainText(text))}\n`);
  }

  error({ code, message, hint }: Described): void {
    this.view.endStream();
    const head = this.errorPaint.red(`error (${code}):`);
    const text = plainText(message).trimEnd().replaceAll('\n', '\n  ');
    this.host.stderr.write(`${head} ${text}\n  ${plainText(hint)}\n`);
  }

  result({ text, error }: Outcome): void {
    this.view.endStream();
    if (text !== undefined && text.length > 0) this.host.stdout.write(text);
    if (error !== undefined) this.error(error);
  }

  private eventText(event: BoardEvent, slug: string): string | undefined {
    const { bold, dim, red } = this.paint;
    switch (event.type) {
      case 'task.created': {
        const behind = event.base.behind ?? 0;
        const warning = behind > 0 ? ` (${behind} behind its upstream)` : '';
        const base = `${plainLine(baseText(event.base))} ${event.base.commit.slice(0, 10)}${warning}`;
        return `${bold(plainLine(slug))} ${event.taskId}\n  ${plainLine(event.objective)}\n  agent ${plainLine(event.agent)}, base ${base}`;
      }
      case 'task.changed':
        return event.state === 'open' ? undefined : dim(`  task ${event.state}`);
      case 'worktree.create.started':
        return dim('  making the worktree');
      case 'worktree.create.completed':
        return `  worktree ${plainLine(event.path)}\n  branch ${plainLine(event.branch).replace(/^refs\/heads\//, '')}`;
      case 'worktree.create.failed':
        return red(`  no worktree (${plainLine(event.code)})`);
      case 'worktree.provided':
        return dim(
          providedRows(event)
            .map((row) => `  ${row}`)
            .join('\n'),
        );
      case 'worktree.command.started':
        return dim(`  ${phaseWords[event.phase]}: ${plainLine(event.command)}`);
      case 'worktree.command.ended': {
        const row = `  ${phaseWords[event.phase]}: ${setupCommandText(event)}`;
        return event.exitCode === 0 ? dim(row) : red(row);
      }
      case 'alarm': {
        const lines = alarmLines(event.alarm).map((line) => `  - ${plainLine(line)}`);
        return red([`! ${alarmHeadline(event.alarm)}`, ...lines].join('\n'));
      }
      case 'run.started':
        return undefined;
      case 'run.created':
        return bold(`● ${event.kind} run: ${plainLine(event.agent)}, ${plainLine(event.model)}`);
      case 'run.ended': {
        const reason = event.state === 'completed' ? '' : ` (${plainLine(event.reason)})`;
        const text = `■ run ${event.state}${reason}`;
        return `${event.state === 'completed' ? bold(text) : red(text)}: ${usageText(event.usage)}`;
      }
      default:
        return undefined;
    }
  }
}
