import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { PermissionDecision, PermissionPort, PermissionQuestion } from '../tasks/permission';

/** Questions of agents that wait for the user; the one inbox of the window. */
export interface PermissionInbox extends PermissionPort {
  readonly pending: readonly PermissionQuestion[];
  readonly onDidChange: Event<void>;
  /** Answers a question that still waits; `false` when it does not any more. */
  answer(questionId: string, isAllowed: boolean): boolean;
}

interface Waiting {
  readonly question: PermissionQuestion;
  readonly decide: (decision: PermissionDecision) => void;
}

const refusal = 'The user does not allow this command.';

/** Keeps questions until somebody answers them, or until the Run that asked is stopped. */
export class QuestionInbox implements PermissionInbox {
  readonly onDidChange: Event<void>;
  private readonly changed: Emitter<void>;
  private readonly waiting = new Map<string, Waiting>();

  constructor(deps: { readonly logger: Logger }) {
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
  }

  get pending(): readonly PermissionQuestion[] {
    return [...this.waiting.values()].map(({ question }) => question);
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionDecision> {
    const stopped: PermissionDecision = { kind: 'denied', by: 'stop', reason: 'The run was stopped.' };
    if (signal.aborted) return Promise.resolve(stopped);
    return new Promise((resolve) => {
      const onAbort = (): void => decide(stopped);
      const decide = (decision: PermissionDecision): void => {
        signal.removeEventListener('abort', onAbort);
        if (!this.waiting.delete(question.id)) return;
        resolve(decision);
        this.changed.fire();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiting.set(question.id, { question, decide });
      this.changed.fire();
    });
  }

  answer(questionId: string, isAllowed: boolean): boolean {
    const one = this.waiting.get(questionId);
    if (one === undefined) return false;
    one.decide(isAllowed ? { kind: 'allowed', by: 'user' } : { kind: 'denied', by: 'user', reason: refusal });
    return true;
  }
}
