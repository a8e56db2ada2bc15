import { createInterface } from 'node:readline';

/** Asks for one line. Answers `undefined` at the end of the input, or when aborted. */
export function askOn(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): (prompt: string, signal: AbortSignal) => Promise<string | undefined> {
  return (prompt, signal) => {
    if (signal.aborted) return Promise.resolve(undefined);
    // Not in raw mode, so that Ctrl-C stays a signal.
    const lines = createInterface({ input, output, terminal: false });
    return new Promise((resolve) => {
      const end = (line: string | undefined): void => {
        signal.removeEventListener('abort', onAbort);
        // Before closing: that tells of the end as well.
        resolve(line);
        lines.close();
      };
      const onAbort = (): void => {
        output.write('\n');
        end(undefined);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      lines.once('line', end);
      lines.once('close', () => end(undefined));
      output.write(prompt);
    });
  };
}
