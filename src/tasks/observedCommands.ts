import { commandInputSchema, textOf } from '../model/messages';
import type { TranscriptEntry } from '../model/transcript';
import type { ObservedCommand } from '../verify/verifier';

/** The commands a Run really ran, gathered from its entries: what a verifier's claims are held against. */
export class ObservedCommands {
  private readonly started = new Map<string, { call: number; command: string }>();
  private readonly ended: ObservedCommand[] = [];

  see(entry: TranscriptEntry): void {
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
