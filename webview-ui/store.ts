import type { Host } from './ipc';
import { emptyState, type PageAction, type PageState, reduce } from './state';

/** Holds what the page knows, asks the host for what is missing, and tells who shows it. */
export class PageStore {
  state: PageState = emptyState;
  /** The host's clock minus ours, in ms. */
  clockOffsetMs = 0;
  /** The host does not know the Task. */
  isMissing = false;
  private readonly listeners = new Set<() => void>();
  private host: Host | undefined;

  /** From now on a snapshot is asked for whenever one is needed. */
  begin(host: Host): void {
    this.host = host;
    host.wantSnapshot({});
  }

  dispatch(action: PageAction): void {
    const before = this.state;
    this.state = reduce(before, action);
    const { facts } = this.state;
    this.isMissing = false;
    if (facts !== undefined && facts !== before.facts)
      this.clockOffsetMs = Date.parse(facts.now) - Date.now();
    if (this.state.needsSnapshot && !before.needsSnapshot) this.host?.wantSnapshot({});
    if (this.state !== before) this.touch();
  }

  miss(): void {
    this.isMissing = true;
    this.touch();
  }

  /** Tells that something beside the state changed. */
  touch(): void {
    for (const listener of [...this.listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
