import { makeRepo, type TempRepo } from '../../git/support/tempRepo';
import { isObject } from '../../wire/support/strictRules';
import type { RecordedRequest, Reply, Script, StrictServer } from '../../wire/support/strictServer';
import { type CliEnd, runCli } from './cli';

/** A small project with one thing to change, in which nothing stands twice. */
export function makeProject(name = 'repo'): Promise<TempRepo> {
  return makeRepo({
    name,
    files: {
      'src/greet.js': "export function greet(name) {\n  return 'hello, ' + name;\n}\n",
      'src/other.js': 'export const other = 1;\n',
      'check.mjs':
        "import { greet } from './src/greet.js';\nif (greet('x') !== 'good day, x') process.exit(3);\nconsole.log('greeting is right');\n",
      'notes.txt': 'one\ntwo\nthree\n',
      'staged.txt': 'as committed\n',
    },
  });
}

export const finalAnswer = [
  'SUMMARY: The greeting says good day.',
  'CHANGES:\n- src/greet.js: the greeting',
  'EVIDENCE:\n- src/greet.js:2-2: the greeting',
  'RISKS:\nNone.',
  'BLOCKERS:\nNone.',
].join('\n\n');

/** Five turns: read, grep, edit, command, answer. */
export const fiveTurns: readonly Reply[] = [
  call('Read', { file_path: 'src/greet.js' }, 'I read the greeting.'),
  call('Grep', { pattern: 'hello', output_mode: 'files_with_matches' }),
  call('Edit', { file_path: 'src/greet.js', old_string: 'hello, ', new_string: 'good day, ' }),
  call('Bash', { command: 'node check.mjs' }),
  { content: [{ type: 'text', text: finalAnswer }] },
];

export function call(name: string, input: unknown, say?: string): Reply {
  const use = { type: 'tool_use' as const, name, input };
  return { content: say === undefined ? [use] : [{ type: 'text', text: say }, use] };
}

/** Answers by the turn the conversation is in, so that several can go on at once. */
export function byTurn(replies: readonly Reply[]): Script {
  return (request) => {
    const reply = replies[turnOf(request)];
    if (reply === undefined) throw new Error(`no reply for turn ${turnOf(request)}`);
    return reply;
  };
}

const ownCheck =
  "node -e \"import('./src/greet.js').then(({ greet }) => process.exit(greet('') === 'good day, ' ? 0 : 1))\"";

/** A verifier that tries a boundary of its own, reports it and passes. */
export const passingVerifier: readonly Reply[] = [
  call('Bash', { command: ownCheck }),
  call('ReportCheck', {
    title: 'An empty name',
    command: ownCheck,
    call: 1,
    exitCode: 0,
    observed: 'greets',
    result: 'pass',
  }),
  { content: [{ type: 'text', text: `${finalAnswer}\n\nVERDICT: PASS` }] },
];

/** One script for the author, another one for who verifies. */
export function byRole(author: readonly Reply[], verifier: readonly Reply[]): Script {
  const roles = { author: byTurn(author), verifier: byTurn(verifier) };
  return (request, index) =>
    request.rawBody.includes('"name":"ReportCheck"')
      ? roles.verifier(request, index)
      : roles.author(request, index);
}

/** How many answers the model has given already. */
export function turnOf({ body }: RecordedRequest): number {
  const messages = body['messages'];
  if (!Array.isArray(messages)) return 0;
  return messages.filter((message) => isObject(message) && message['role'] === 'assistant').length;
}

/** The variables that lead the command line to the server. */
export function modelEnv(server: StrictServer): Record<string, string> {
  return { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: server.url };
}

/** `run --json` with commands allowed and no verification. */
export function runJob(server: StrictServer, repo: TempRepo, ...more: readonly string[]): Promise<CliEnd> {
  return runCli(['run', 'Say good day', '--no-verify', '--allow-commands', '--json', ...more], {
    cwd: repo.root,
    env: modelEnv(server),
  });
}
