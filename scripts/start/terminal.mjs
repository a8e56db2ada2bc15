// npm start -- --terminal [--dir FOLDER]
// The whole road on a sample repository, offline, by the command line: run, verify (FAIL), fix (PASS), accept, test.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildProduct } from '../build.mjs';
import { root } from '../ensure.mjs';
import { bold, exitCodeOf, makeSample, say, shell, withoutModel } from './sample.mjs';

const cli = join(root, 'dist', 'cli.js');

export async function startInTerminal({ dir }) {
  await buildProduct();
  const { folder, sample } = await makeSample(dir);
  say(`Step 1 of 5: a sample repository in ${folder}`);
  console.log('A kitchen timer whose parser gets "1h30m" wrong, so that one of its own tests fails.\n');

  say(
    'Step 2 of 5: an agent gets the Task, in a worktree of its own; then another one tries to break its change',
  );
  const run = await tributary(folder, [
    ...['run', sample.samplePlaybook.objective, '--demo', '--verify', '--allow-commands'],
    ...['--check', sample.sampleTestCommand],
  ]);
  expectRun(run, { exitCode: 1, verdict: 'FAIL' });
  if (!/^\S+:\d+ (error|warning|info) ./m.test(run.output))
    throw new Error('the verdict came without a finding');
  const slug = await slugOf(folder);
  console.log(
    '\nThe tests pass now, and still the verdict is FAIL: the verifier found input that should be refused.',
  );
  console.log('Your files were not touched; the exit code was 1, as a script would want it.\n');

  say('Step 3 of 5: the finding goes to an implementer, then the change is verified again');
  expectRun(await tributary(folder, ['fix', slug, '--demo', '--allow-commands']), {
    exitCode: 0,
    verdict: 'PASS',
  });
  console.log('\nPASS, bound to the tree that is about to land.\n');

  say('Step 4 of 5: accept it into the checkout');
  expectRun(await tributary(folder, ['accept', slug]), { exitCode: 0 });

  say(`Step 5 of 5: the sample's own tests, in the checkout ($ ${sample.sampleTestCommand})`);
  const tests = await shell(sample.sampleTestCommand, folder);
  if (tests !== 0) throw new Error(`the sample's tests ended with exit code ${tests}`);
  sayWhatNext(folder, slug);
}

/** Runs the built command line, showing its command and its output. */
async function tributary(folder, args) {
  console.log(bold(`$ ${commandText(args)}`));
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    env: withoutModel(),
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  return { exitCode: await exitCodeOf(child), output };
}

function expectRun({ exitCode, output }, expected) {
  if (exitCode !== expected.exitCode)
    throw new Error(`exit code ${exitCode} instead of ${expected.exitCode}`);
  if (expected.verdict !== undefined && !new RegExp(`^VERDICT: ${expected.verdict}$`, 'm').test(output))
    throw new Error(`no VERDICT: ${expected.verdict}`);
}

async function slugOf(folder) {
  const { status, stdout } = spawnSync(process.execPath, [cli, 'list', '--json', '--repo', folder], {
    encoding: 'utf8',
    env: withoutModel(),
  });
  const result = JSON.parse(stdout.trim().split('\n').at(-1));
  if (status !== 0 || result.data.tasks.length !== 1) throw new Error('the Task is not in the list');
  return result.data.tasks[0].slug;
}

function commandText(args) {
  const quoted = args.map((arg) => (/^[\w./=-]+$/.test(arg) ? arg : `"${arg.replaceAll('"', '\\"')}"`));
  return `node ${/\s/.test(cli) ? `"${cli}"` : cli} ${quoted.join(' ')}`;
}

function sayWhatNext(folder, slug) {
  const line = (...args) => `  ${commandText(args)}`;
  console.log(`
${bold('All of it held: FAIL with a finding, fixed, PASS, accepted, tests green.')}

Try next, in the sample:
  cd ${folder}
  git diff
${line('show', slug)}
${line('undo', slug)}
${line('accept', slug)}

On a repository of yours, with a key:
  export ANTHROPIC_API_KEY=...     (or ANTHROPIC_AUTH_TOKEN; ANTHROPIC_BASE_URL for a gateway)
  cd your/repository
${line('run', 'what you want done', '--check', 'your test command')}
${line('--help')}

The sample stays until you delete it: ${folder}`);
}
