import { commandInputSchema, textOf } from '../model/messages';
import { afterWaiting, noWaits, type TranscriptEntry, type Waits } from '../model/transcript';
import type { ObservedCommand } from '../verify/verifier';

/**
 * What a Run's entries say of it: the commands that really ran, which a verifier's claims are held against, and how
 * long the user was waited for.
 */
export class ObservedCommands {
  private readonly started = new Map<string, { call: number; command: string }>();
  private readonly ended: ObservedCommand[] = [];
  private waits: Waits = noWaits;

  get waitedMs(): number {
    return this.waits.waitedMs;
  }

  see(entry: TranscriptEntry): void {
    this.waits = afterWaiting(this.waits, entry);
    if (entry.type === 'tool.started' && entry.call !== undefined) {
      const input = commandInputSchema.safeParse(entry.input);
      if (input.success) this.started.set(entry.toolUseId, { call: entry.call, command: input.data.command });
    }
    if (entry.type !== 'tool.ended' || entry.exitCode === undefined) return;
    const start = this.started.get(entry.toolUseId);
    if (start === undefined) return;
    const output = typeof entry.content === 'string' ? entry.content : textOf(entry.content);
    this.ended.push({ ...start, exitCode: entry.exitCode, output });
  }

  list(): readonly ObservedCommand[] {
    return [...this.ended];
  }
}
