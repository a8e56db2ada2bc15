import type { Event } from '../base/emitter';
import type { PermissionPort, PermissionQuestion } from '../tasks/permission';

/** Questions of agents that wait for the user; the one inbox of the window. */
export interface PermissionInbox extends PermissionPort {
  readonly pending: readonly PermissionQuestion[];
  readonly onDidChange: Event<void>;
  /** Answers a question that still waits; `false` when it does not any more. */
  answer(questionId: string, isAllowed: boolean): boolean;
}
