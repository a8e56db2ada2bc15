/** Why a ticket stopped waiting. */
export type TurnOutcome = 'turn' | 'timeout' | 'cancelled';

/** First come, first served, inside one process. Whoever joins must leave, also without having had a turn. */
export class WaitingLine {
  private readonly places: Place[] = [];

  get isEmpty(): boolean {
    return this.places.length === 0;
  }

  join(): Place {
    const place = new Place();
    this.places.push(place);
    if (this.places.length === 1) place.call();
    return place;
  }

  leave(place: Place): void {
    const index = this.places.indexOf(place);
    if (index === -1) return;
    this.places.splice(index, 1);
    if (index === 0) this.places[0]?.call();
  }
}

/** A place in a line. */
export class Place {
  private isCalled = false;
  private onCall: (() => void) | undefined;

  call(): void {
    this.isCalled = true;
    this.onCall?.();
  }

  /** Resolves when everybody before has left, after `waitMs`, or when the signal aborts. Call it once. */
  turn(waitMs: number, signal?: AbortSignal): Promise<TurnOutcome> {
    if (this.isCalled) return Promise.resolve('turn');
    return new Promise((resolve) => {
      const finish = (outcome: TurnOutcome): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.onCall = undefined;
        resolve(outcome);
      };
      const onAbort = (): void => finish('cancelled');
      const timer = setTimeout(() => finish('timeout'), Math.max(0, waitMs));
      signal?.addEventListener('abort', onAbort, { once: true });
      this.onCall = () => finish('turn');
    });
  }
}
