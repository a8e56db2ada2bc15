import type { CancelReason } from '../../base/async';
import { type ContentBlock, type ToolResultBlock, textBlockSchema } from '../../model/messages';

/** What a call gets that began and has no result: it is never run again. */
export const interruptedText = 'interrupted; may have taken effect';
/** What a call gets that never began. */
export const notRunText = 'not run';

/** What the remaining calls of a Turn get when it is cancelled. */
export function notRunBecause(reason: CancelReason): string {
  switch (reason) {
    case 'user':
      return `${notRunText}: stopped by the user`;
    case 'timeout':
      return `${notRunText}: the time was used up`;
    case 'budget':
      return `${notRunText}: the budget was used up`;
    case 'shutdown':
      return `${notRunText}: the process was shut down`;
    case 'worktree':
      return `${notRunText}: the files could not be put there`;
  }
}

type ResultContent = string | ContentBlock[];

const nothing = '(no output)';

/** Content the API takes: no blank text, nothing empty, and text only where it is an error. */
export function sendableContent(content: string | readonly ContentBlock[], isError: boolean): ResultContent {
  if (typeof content === 'string') return content.trim() === '' ? nothing : content;
  const kept = content.filter((block) => (isError ? block.type === 'text' : true) && !isBlankText(block));
  return kept.length === 0 ? nothing : kept;
}

export function toolResult(
  toolUseId: string,
  content: string | readonly ContentBlock[],
  isError: boolean,
): ToolResultBlock {
  return {
    type: 'tool_result',
    tool_use_id: toolUseId,
    content: typeof content === 'string' ? content : [...content],
    ...(isError ? { is_error: true } : {}),
  };
}

export function isBlankText(block: ContentBlock): boolean {
  const text = textBlockSchema.safeParse(block);
  return text.success && text.data.text.trim() === '';
}
