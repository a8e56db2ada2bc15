import { SerialQueue } from '../base/async';
import { plainLine, visibleText } from '../model/plainText';
import type { PermissionDecision, PermissionPort, PermissionQuestion } from '../tasks/permission';
import type { CliHost } from './host';
import type { Report } from './report';

interface Consent {
  readonly host: CliHost;
  readonly report: Report;
  /** `--allow-commands`. */
  readonly allowCommands: boolean;
  readonly isJson: boolean;
}

/** Decides about an agent's commands: by the flag, by asking on the terminal, else denied. Stores nothing. */
export class CliPermission implements PermissionPort {
  private readonly consent: Consent;
  private readonly queue = new SerialQueue();
  private isAllAllowed: boolean;

  constructor(consent: Consent) {
    this.consent = consent;
    this.isAllAllowed = consent.allowCommands;
  }

  async ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionDecision> {
    const { host, report, isJson, allowCommands } = this.consent;
    if (allowCommands) return { kind: 'allowed', by: '--allow-commands' };
    report.question(question);
    if (isJson || host.ask === undefined)
      return denied('the command line: nobody can be asked', unanswerable);
    const ask = host.ask;
    // One question at a time; an "all" given meanwhile answers those that waited.
    return this.queue.run(() =>
      this.isAllAllowed
        ? Promise.resolve({ kind: 'allowed' as const, by: 'user' })
        : this.askTerminal(question, (prompt) => ask(prompt, signal)),
    );
  }

  private async askTerminal(
    question: PermissionQuestion,
    ask: (prompt: string) => Promise<string | undefined>,
  ): Promise<PermissionDecision> {
    const command = visibleText(question.command).replaceAll('\n', '\n      ');
    let prompt = `${plainLine(question.agent)} wants to run in its worktree:\n    $ ${command}\n`;
    for (;;) {
      const line = await ask(`${prompt}  allow? y = yes, n = no, a = all in this call: `);
      if (line === undefined) return denied('user', 'The user did not answer.');
      switch (line.trim().toLowerCase()) {
        case 'a':
        case 'all':
          this.isAllAllowed = true;
          return { kind: 'allowed', by: 'user' };
        case 'y':
        case 'yes':
          return { kind: 'allowed', by: 'user' };
        case 'n':
        case 'no':
          return denied('user', 'The user does not allow this command.');
        default:
          prompt = '  Please answer y, n or a.\n';
      }
    }
  }
}

const unanswerable =
  'Commands are not allowed in this call and there is no terminal to ask on. The user can allow them by starting tributary with --allow-commands.';

function denied(by: string, reason: string): PermissionDecision {
  return { kind: 'denied', by, reason };
}
