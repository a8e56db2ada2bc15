import { isatty } from 'node:tty';
import type { ComposeCore } from '../composeCore';
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
  // By number: naming `process.stdin` would open it at every start.
  const canAsk = isatty(0) && isatty(2);
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
    loadCore,
  };
}

/** Git is asked first: it answers while the rest, which is much more to load, is loaded. */
async function loadCore(directory: string): Promise<ComposeCore> {
  const { openRepository } = await import('../composeRepository');
  const repository = openRepository(directory, process.env);
  // It is heard of where the core is composed.
  repository.catch(() => undefined);
  const { checkWithoutCompiling } = await import('../model/schemaMode');
  checkWithoutCompiling();
  const { composeCore } = await import('../composeCore');
  return (ports) => composeCore({ ...ports, repository });
}

async function askTerminal(prompt: string, signal: AbortSignal): Promise<string | undefined> {
  const { askOn } = await import('./askOn');
  return askOn(process.stdin, process.stderr)(prompt, signal);
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
      // A terminal that does not know its size says 0.
      return stream.columns > 0 ? stream.columns : undefined;
    },
  };
}
