import type { Disposable } from './disposable';
import { type Logger, silentLogger } from './logger';

export type Listener<T> = (value: T) => void;

/** A subscription point: call it with a listener, dispose what it returns to stop. */
export type Event<T> = (listener: Listener<T>) => Disposable;

/** A source of events. A listener that throws is logged and does not disturb the others. */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<Listener<T>>();
  private readonly logger: Logger;

  constructor(logger: Logger = silentLogger) {
    this.logger = logger;
  }

  readonly event: Event<T> = (listener) => {
    // Wrapped, so that the same function subscribed twice is two subscriptions.
    const own: Listener<T> = (value) => listener(value);
    this.listeners.add(own);
    return { dispose: () => void this.listeners.delete(own) };
  };

  get listenerCount(): number {
    return this.listeners.size;
  }

  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.logger.error('a listener threw', { error });
      }
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}
