/** Characters passed on at a time. */
const maxWaiting = 64 * 1024;

/** Gathers text and passes it on at most once in `intervalMs`; of a flood only the latest of each interval. */
export class ThrottledText {
  private readonly intervalMs: number;
  private readonly pass: (text: string) => void;
  private waiting = '';
  private timer: NodeJS.Timeout | undefined;

  constructor(intervalMs: number, pass: (text: string) => void) {
    this.intervalMs = intervalMs;
    this.pass = pass;
  }

  add(text: string): void {
    this.waiting += text;
    // A flood is not shown whole, live: the page could not keep up, and the result has its head and tail.
    if (this.waiting.length > maxWaiting) this.waiting = this.waiting.slice(-maxWaiting);
    this.timer ??= setTimeout(() => this.flush(), this.intervalMs);
  }

  end(): void {
    this.flush();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const text = this.waiting;
    this.waiting = '';
    if (text !== '') this.pass(text);
  }
}
