import type { AgentKit } from '../agent/agentKit';
import type { RunId, TaskId } from '../model/ids';
import type { Message } from '../model/messages';
import type { TranscriptHeader } from '../model/transcript';
import type { Store } from '../store/store';

/** A Run's conversation from its very beginning, through every Run it goes on from. */
export interface Conversation {
  /** Of the Run asked for; system, tools and params are those of the first one. */
  readonly header: TranscriptHeader;
  readonly messages: readonly Message[];
  /** The highest `[call N]` so far. */
  readonly lastCall: number;
}

export async function conversationOf(
  deps: { readonly kit: AgentKit; readonly store: Store },
  taskId: TaskId,
  runId: RunId,
): Promise<Conversation> {
  const transcript = await deps.store.transcripts.read(taskId, runId);
  const own = deps.kit.conversation(transcript);
  const calls = transcript.entries.flatMap((entry) =>
    entry.type === 'tool.started' && entry.call !== undefined ? [entry.call] : [],
  );
  const earlierId = transcript.header.resumes;
  if (earlierId === undefined)
    return { header: transcript.header, messages: own, lastCall: Math.max(0, ...calls) };
  const earlier = await conversationOf(deps, taskId, earlierId);
  return {
    header: transcript.header,
    messages: joinMessages(earlier.messages, own),
    lastCall: Math.max(earlier.lastCall, ...calls),
  };
}

/** One conversation after the other; two user messages that meet become one, as the API wants it. */
export function joinMessages(earlier: readonly Message[], later: readonly Message[]): readonly Message[] {
  const last = earlier.at(-1);
  const first = later[0];
  if (last?.role !== 'user' || first?.role !== 'user') return [...earlier, ...later];
  return [
    ...earlier.slice(0, -1),
    { role: 'user', content: [...last.content, ...first.content] },
    ...later.slice(1),
  ];
}
