import { runCommandLine } from '../../../../src/cli/commandLine';
import type { CliHost, HostSignal, Output } from '../../../../src/cli/host';
import { FakeTaskService, type Script } from '../../../fakes/fakeTaskService';

/** A process that is not one: what was written, and signals as calls. */
export class FakeHost {
  readonly fake: FakeTaskService;
  env: Record<string, string | undefined> = { ANTHROPIC_API_KEY: 'test-key' };
  isTerminal = false;
  /** Answers of the person at the terminal; without it there is no terminal. */
  typed: (string | undefined)[] | undefined;
  readonly prompts: string[] = [];
  readonly exits: number[] = [];
  private out: Uint8Array[] = [];
  private err = '';
  private readonly listeners = new Set<(signal: HostSignal) => void>();

  constructor(script: Script = {}) {
    this.fake = new FakeTaskService(script);
  }

  get stdout(): string {
    return Buffer.concat(this.out).toString('utf8');
  }

  get stdoutBytes(): Buffer {
    return Buffer.concat(this.out);
  }

  get stderr(): string {
    return this.err;
  }

  get signalListeners(): number {
    return this.listeners.size;
  }

  /** stdout as JSON lines; fails when a line is none. */
  lines(): Record<string, unknown>[] {
    return this.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  signal(signal: HostSignal): void {
    for (const listener of [...this.listeners]) listener(signal);
  }

  run(...argv: string[]): Promise<number> {
    return runCommandLine(argv, this.host());
  }

  host(): CliHost {
    const output = (write: (data: string | Uint8Array) => void): Output => ({
      write,
      isTerminal: this.isTerminal,
      columns: 80,
    });
    const { typed } = this;
    return {
      env: this.env,
      directory: '/somewhere',
      stdout: output((data) => this.out.push(Buffer.from(data))),
      stderr: output((data) => {
        this.err += Buffer.from(data).toString('utf8');
      }),
      now: () => new Date('2024-05-01T12:00:00.000Z'),
      ...(typed === undefined
        ? {}
        : {
            ask: (prompt: string) => {
              this.prompts.push(prompt);
              return Promise.resolve(typed.shift());
            },
          }),
      onSignal: (listener) => {
        this.listeners.add(listener);
        return { dispose: () => void this.listeners.delete(listener) };
      },
      exit: (code) => void this.exits.push(code),
      loadCore: () => Promise.resolve(this.fake.compose),
    };
  }
}
