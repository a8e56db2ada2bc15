import type { ContentBlock } from '../../model/messages';
import type { ToolOutcome } from './tool';

/** An answer that changed no file. */
export function answer(content: string | readonly ContentBlock[]): ToolOutcome {
  return { content, isError: false, mayHaveChanged: false };
}

/** An answer after which files of the Worktree may differ. */
export function changed(content: string): ToolOutcome {
  return { content, isError: false, mayHaveChanged: true };
}

/** The model is told what went wrong and goes on. */
export function failure(content: string): ToolOutcome {
  return { content, isError: true, mayHaveChanged: false };
}
