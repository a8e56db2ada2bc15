import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { gitAt, makeFolder } from '../git/support/tempRepo';

/** A repository of `count` files of 200 to 2,200 bytes, about 50 to a folder, and a small project to work on. */
export async function makeLargeRepo(count: number): Promise<string> {
  const folder = await makeFolder();
  const root = `${folder}/repo`;
  await gitAt(folder, 'init', '--quiet', '--initial-branch=main', root);
  const importing = spawn('git', ['fast-import', '--quiet'], {
    cwd: root,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(importing, 'close');
  importing.stdin.write(
    'commit refs/heads/main\ncommitter Ada Tester <ada@example.invalid> 1704164645 +0000\n',
  );
  importing.stdin.write('data 5\nfirst\n');
  for (const [path, content] of files(count)) {
    const bytes = Buffer.byteLength(content);
    const hasRoom = importing.stdin.write(`M 100644 inline ${path}\ndata ${bytes}\n${content}\n`);
    if (!hasRoom) await once(importing.stdin, 'drain');
  }
  importing.stdin.end('done\n');
  const [code]: unknown[] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${String(code)}`);
  await gitAt(root, 'reset', '--quiet', '--hard', 'main');
  return root;
}

function* files(count: number): Generator<readonly [path: string, content: string]> {
  yield ['src/greet.js', "export function greet(name) {\n  return 'hello, ' + name;\n}\n"];
  yield [
    'check.mjs',
    "import { greet } from './src/greet.js';\nif (greet('x') !== 'good day, x') process.exit(3);\nconsole.log('right');\n",
  ];
  for (let number = 2; number < count; number += 1) {
    const folder = Math.floor(number / 50);
    const line = `export const value${number} = ${number};\n`;
    const content = line.repeat(8 + (number % 70));
    yield [`src/part${Math.floor(folder / 20)}/folder${folder % 20}/file${number}.js`, content];
  }
}
