#!/usr/bin/env node
import { runCommandLine } from './commandLine';
import { processHost } from './processHost';

process.on('uncaughtException', (error) => {
  process.stderr.write(`error (internal): ${error.stack ?? error.message}\n`);
  process.exit(1);
});

const exitCode = await runCommandLine(process.argv.slice(2), processHost());
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit(exitCode);

/** Resolves when what was written is with the system, or can never be. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write('', () => resolve());
  });
}
