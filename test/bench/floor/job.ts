// The five-turn job without anything around it. Arguments: the folder of the worktree, its branch, ripgrep, and
// `snapshots` to record the tree after each turn that may have changed files, as plainly as git allows, or
// `git` to ask git all that the product asks to keep its promises (an own branch, a proven worktree, snapshots that
// leave the index alone), in the same order, by the same number of processes.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { ask, bareClient, git } from './bare';
import { begin, look } from './sameGit';

const [path = '', branch = '', ripgrep = 'rg', mode] = process.argv.slice(2);
const { files } =
  mode === 'git'
    ? await begin(path, branch)
    : { files: await git(process.cwd(), 'worktree', 'add', '--quiet', '-b', branch, path, 'HEAD') };
const client = bareClient();
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Say good day' }];
for (let snapshots = 0; ; ) {
  const answer = await ask(client, messages);
  messages.push({ role: 'assistant', content: answer.content });
  await files;
  const results: Anthropic.ToolResultBlockParam[] = [];
  let mayHaveChanged = false;
  for (const block of answer.content) {
    if (block.type !== 'tool_use') continue;
    mayHaveChanged ||= block.name === 'Edit' || block.name === 'Bash';
    results.push({ type: 'tool_result', tool_use_id: block.id, content: await use(block) });
  }
  if (results.length === 0) break;
  if (mayHaveChanged && mode === 'snapshots') {
    snapshots += 1;
    await snapshot(snapshots);
  }
  if (mayHaveChanged && mode === 'git') await look(path, branch);
  messages.push({ role: 'user', content: results });
}
// The product looks once more when the Run is over.
if (mode === 'git') await look(path, branch);

async function use({ name, input }: Anthropic.ToolUseBlock): Promise<string> {
  const text = (key: string): string => String(Reflect.get(Object(input), key));
  switch (name) {
    case 'Read':
      return readFile(join(path, text('file_path')), 'utf8');
    case 'Grep':
      return output(ripgrep, ['--files-with-matches', '-e', text('pattern')]);
    case 'Edit': {
      const file = join(path, text('file_path'));
      const content = await readFile(file, 'utf8');
      await writeFile(file, content.replace(text('old_string'), text('new_string')));
      return 'done';
    }
    default:
      return output('/bin/sh', ['-c', text('command')]);
  }
}

function output(file: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: path, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => resolve(`${said}[exit code ${code}]`));
  });
}

async function snapshot(number: number): Promise<void> {
  await git(path, 'add', '--all');
  const tree = await git(path, 'write-tree');
  const commit = await git(path, 'commit-tree', '-p', 'HEAD', '-m', 'snapshot', tree);
  await git(path, 'update-ref', `refs/bare/${branch}/${number}`, commit);
}
