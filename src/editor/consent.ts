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

  /** Whether the user agreed to just these set-up commands of the workspace. */
  isSetupAllowed(commonDir: string, commands: readonly string[]): boolean {
    return this.memory.get(setupPrefix + commonDir) === JSON.stringify(commands);
  }

  async allowSetup(commonDir: string, commands: readonly string[]): Promise<void> {
    await this.memory.update(setupPrefix + commonDir, JSON.stringify(commands));
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
