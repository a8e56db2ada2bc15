import type { Disposable } from '../base/disposable';
import type { ComposeCore } from '../composeCore';

export interface Output {
  /** In order; never throws. */
  write(data: string | Uint8Array): void;
  readonly isTerminal: boolean;
  /** Width in characters, where it is known. */
  readonly columns: number | undefined;
}

/** `interrupt`: Ctrl-C. `terminate`: SIGTERM, SIGHUP, or nobody reads our output any more. */
export type HostSignal = 'interrupt' | 'terminate';

/** The process as the command line sees it, so that a test can stand in for it. */
export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly stdout: Output;
  readonly stderr: Output;
  now(): Date;
  /** Asks on the terminal for one line; `undefined` at its end or when aborted. Absent: there is no terminal. */
  readonly ask?: (prompt: string, signal: AbortSignal) => Promise<string | undefined>;
  onSignal(listener: (signal: HostSignal) => void): Disposable;
  /** Ends the process now. */
  exit(code: number): void;
  /** Loads the program and meanwhile asks git about `directory`. */
  loadCore(directory: string): Promise<ComposeCore>;
}
