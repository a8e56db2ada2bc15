import type { Event } from '../base/emitter';
import { Emitter } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { PermissionDecision, PermissionPort } from '../tasks/permission';

/** A key-value memory of the editor's, outside every repository. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const prefix = 'consent.commands:';
const setupPrefix = 'consent.setup:';

/** "Agents may run commands in worktrees", once per repository; agents cannot reach where it is kept. */
export class CommandConsent {
  readonly onDidChange: Event<void>;
  private readonly changed: Emitter<void>;
  private readonly memory: Memory;

  constructor(deps: { readonly memory: Memory; readonly logger: Logger }) {
    this.memory = deps.memory;
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
  }

  /** `commonDir`: the real git common directory, so that every worktree of a repository shares it. */
  isGiven(commonDir: string): boolean {
    return this.memory.get(prefix + commonDir) === true;
  }

  async set(commonDir: string, isGiven: boolean): Promise<void> {
    await this.memory.update(prefix + commonDir, isGiven ? true : undefined);
    this.changed.fire();
  }

  /** What the user decided about just these set-up commands of the workspace; `undefined`: nothing yet. */
  setupDecision(commonDir: string, commands: readonly string[]): boolean | undefined {
    const said = this.memory.get(setupPrefix + commonDir);
    if (said === decisionText(commands, true)) return true;
    return said === decisionText(commands, false) ? false : undefined;
  }

  async decideSetup(commonDir: string, commands: readonly string[], isAllowed: boolean): Promise<void> {
    await this.memory.update(setupPrefix + commonDir, decisionText(commands, isAllowed));
  }

  /** The port of one repository's core: its consent first, then the inbox. */
  portFor(commonDir: string, inbox: PermissionPort): PermissionPort {
    const allowed: PermissionDecision = { kind: 'allowed', by: 'consent' };
    return {
      ask: (question, signal) =>
        this.isGiven(commonDir) ? Promise.resolve(allowed) : inbox.ask(question, signal),
    };
  }
}

function decisionText(commands: readonly string[], isAllowed: boolean): string {
  return JSON.stringify({ isAllowed, commands });
}
