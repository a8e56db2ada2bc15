import { parseArguments } from './arguments';
import { helpText } from './help';
import type { CliHost } from './host';
import { appVersion } from './version';

/** Runs one command line, without the program's name, and answers its exit code. */
export async function runCommandLine(argv: readonly string[], host: CliHost): Promise<number> {
  const invocation = parseArguments(argv);
  switch (invocation.kind) {
    case 'help':
      host.stdout.write(helpText(invocation.verb));
      return 0;
    case 'version':
      host.stdout.write(`${appVersion}\n`);
      return 0;
    case 'usage':
      return reportUsage(invocation, host);
    case 'command': {
      // Help and mistakes are answered without loading the rest.
      const loading = host.loadCore(invocation.command.repo ?? host.directory);
      // Whoever fails to load says so below; what comes first decides how schemas check.
      await loading.catch(() => undefined);
      const { call } = await import('./call');
      return call(invocation.command, host, loading);
    }
  }
}

function reportUsage(
  { message, hint, isJson }: { message: string; hint: string; isJson: boolean },
  { stdout, stderr, now }: CliHost,
): number {
  const at = now().toISOString();
  if (isJson) {
    const error = { v: 1, at, type: 'error', code: 'badArguments', message, hint };
    const result = { v: 1, at, type: 'result', ok: false, exitCode: 2, data: null };
    stdout.write(`${JSON.stringify(error)}\n${JSON.stringify(result)}\n`);
  } else {
    stderr.write(`error (badArguments): ${message}\n  ${hint}\n`);
  }
  return 2;
}
