import { createInterface } from 'node:readline';
import type { CliHost, HostSignal, Output } from './host';

/** The real process. */
export function processHost(): CliHost {
  const listeners = new Set<(signal: HostSignal) => void>();
  const tell = (signal: HostSignal): void => {
    for (const listener of [...listeners]) listener(signal);
    // Nobody is there to end in order, so end as without us.
    if (listeners.size === 0) process.exit(signal === 'interrupt' ? 130 : 1);
  };
  process.on('SIGINT', () => tell('interrupt'));
  process.on('SIGTERM', () => tell('terminate'));
  process.on('SIGHUP', () => tell('terminate'));
  const canAsk = process.stdin.isTTY === true && process.stderr.isTTY === true;
  return {
    env: process.env,
    directory: process.cwd(),
    stdout: outputOf(process.stdout, () => tell('terminate')),
    stderr: outputOf(process.stderr, () => undefined),
    now: () => new Date(),
    ...(canAsk ? { ask: askTerminal } : {}),
    onSignal(listener) {
      listeners.add(listener);
      return { dispose: () => void listeners.delete(listener) };
    },
    exit: (code) => process.exit(code),
    loadCore: async () => (await import('../composeCore')).composeCore,
  };
}

/** `onBroken`: the reader has gone (`| head`); what is written from then on goes nowhere. */
function outputOf(stream: NodeJS.WriteStream, onBroken: () => void): Output {
  let isBroken = false;
  stream.on('error', () => {
    if (isBroken) return;
    isBroken = true;
    onBroken();
  });
  return {
    write: (data) => {
      if (!isBroken) stream.write(data);
    },
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
  };
}

/** Not in raw mode, so that Ctrl-C stays a signal. */
function askTerminal(prompt: string, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return new Promise((resolve) => {
    const end = (line: string | undefined): void => {
      signal.removeEventListener('abort', onAbort);
      lines.close();
      resolve(line);
    };
    const onAbort = (): void => {
      process.stderr.write('\n');
      end(undefined);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    lines.on('line', end);
    lines.on('close', () => end(undefined));
    process.stderr.write(prompt);
  });
}
