import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The package's own tests, which the sample's bug makes fail. */
export const sampleTestCommand = 'npm test';

export const durationSource = `// Turns a text such as "45s", "10m" or "2h" into seconds.
const SECONDS = { h: 3600, m: 60, s: 1 };

export function parseDuration(text) {
  const match = /^(\\d+)([hms])/.exec(text.trim());
  if (match === null) throw new Error(\`not a duration: \${text}\`);
  return Number(match[1]) * SECONDS[match[2]];
}
`;

const timerSource = `import { parseDuration } from './duration.js';

// Calls back once the duration has passed; the function returned stops the timer.
export function startTimer(duration, onEnd) {
  const timer = setTimeout(onEnd, parseDuration(duration) * 1000);
  return () => clearTimeout(timer);
}
`;

export const durationTestSource = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from '../src/duration.js';

test('reads one unit', () => {
  assert.equal(parseDuration('45s'), 45);
  assert.equal(parseDuration('10m'), 600);
  assert.equal(parseDuration('2h'), 7200);
});

test('adds units up', () => {
  assert.equal(parseDuration('1h30m'), 5400);
  assert.equal(parseDuration('1h1m1s'), 3661);
});
`;

const packageSource = `{
  "name": "kitchen-timer",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test"
  }
}
`;

const readmeSource = `# Kitchen timer

A timer for recipes. \`startTimer('1h30m', ring)\` rings after an hour and a half.

Durations are numbers with the units \`h\`, \`m\` and \`s\`, one after another: \`45s\`, \`10m\`, \`1h30m\`.
Any other text is refused with an error, so that a typing mistake never starts a timer of the wrong length.

    npm test
`;

/** Every file of the sample, by path. */
export const sampleFiles: Readonly<Record<string, string>> = {
  'README.md': readmeSource,
  'package.json': packageSource,
  'src/duration.js': durationSource,
  'src/timer.js': timerSource,
  'test/duration.test.js': durationTestSource,
};

export interface SampleDeps {
  /** Runs git with these arguments in that folder; rejects when git fails. */
  readonly git: (args: readonly string[], cwd: string) => Promise<unknown>;
}

/**
 * Writes the sample project into a folder, which is created, and commits it there. The author is given with
 * the commit, so that a machine without one works too. Returns the paths of its files.
 */
export async function createSampleRepository(
  directory: string,
  { git }: SampleDeps,
): Promise<readonly string[]> {
  await writeFiles(directory, sampleFiles);
  await git(['init', '--quiet', '--initial-branch=main'], directory);
  await git(['add', '--all'], directory);
  const author = ['-c', 'user.name=Tributary demo', '-c', 'user.email=demo@localhost'];
  // No hook and no signing key of the user takes part in a sample.
  const commit = ['-c', 'commit.gpgSign=false', 'commit', '--quiet', '--no-verify'];
  await git([...author, ...commit, '--message=A kitchen timer'], directory);
  return Object.keys(sampleFiles);
}

async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const target = join(directory, ...path.split('/'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
}

/** Whether a checkout is one of the sample, whatever was done in it since. */
export async function isSample(root: string): Promise<boolean> {
  const found = await readFile(join(root, 'package.json'), 'utf8').catch(() => '');
  return found === packageSource;
}
