import type { RunId, TaskId } from '../model/ids';

/** A command an agent wants to run and that nothing allows yet. */
export interface PermissionQuestion {
  readonly id: string;
  readonly taskId: TaskId;
  readonly runId: RunId;
  readonly agent: string;
  readonly tool: string;
  readonly command: string;
}

/** `reason` is what the model is told; it names what the user can do. */
export type PermissionDecision =
  | { readonly kind: 'allowed'; readonly by: string }
  | { readonly kind: 'denied'; readonly by: string; readonly reason: string };

/** Who decides about commands: the terminal, the inbox, a stored consent. Unanswerable is denied, and said. */
export interface PermissionPort {
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionDecision>;
}
