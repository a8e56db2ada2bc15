import assert from 'node:assert/strict';
import { watch } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fingerprint, gitAt, makeRepo, type TempRepo } from '../../git/support/tempRepo';
import { isObject, type JsonObject } from '../../wire/support/strictRules';
import type { RecordedRequest, Reply, StrictServer } from '../../wire/support/strictServer';
import { type CliEnd, type CliRun, type JsonLine, runCli, startCli } from './cli';
import { call, finalAnswer, modelEnv } from './job';

export const slug = 'say-good-day';

/** A repository whose commands leave traces outside it and can be made to wait at a gate. */
export interface CrashSite {
  readonly repo: TempRepo;
  readonly server: StrictServer;
  readonly worktree: string;
  readonly env: Readonly<Record<string, string>>;
  start(args: readonly string[]): CliRun;
  cli(...args: readonly string[]): Promise<CliEnd>;
  /** The lines the agent's commands wrote so far. */
  traces(): Promise<string[]>;
  openGate(name: string): Promise<void>;
  /** Resolves when a program waits at the gate. */
  arrivedAt(name: string): Promise<void>;
}

/**
 * `node trace.mjs NAME [wait GATE]`: writes NAME, waits until the gate is open, writes `NAME late`.
 * `node trace.mjs NAME close GATE` closes one.
 */
const traceProgram = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
const [name, what, gate] = process.argv.slice(2);
const site = process.env.SITE;
appendFileSync(site + '/traces', name + '\\n');
if (what === 'close') writeFileSync(site + '/closed-' + gate, '');
if (what === 'wait') {
  writeFileSync(site + '/at-' + gate, '');
  setInterval(() => {
    if (!existsSync(site + '/open-' + gate)) return;
    appendFileSync(site + '/traces', name + ' late\\n');
    process.exit(0);
  }, 20);
}
`;

/** A git filter that waits at a gate, if there is one, and passes on what it gets, or fails. */
const filterProgram = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const site = process.env.SITE;
const gate = process.argv[2];
const bytes = readFileSync(0);
const pass = () => process.stdout.write(bytes);
if (!existsSync(site + '/closed-' + gate)) pass();
else {
  writeFileSync(site + '/at-' + gate, '');
  const timer = setInterval(() => {
    if (!existsSync(site + '/open-' + gate)) return;
    clearInterval(timer);
    if (existsSync(site + '/failing-' + gate)) process.exit(1);
    pass();
  }, 20);
}
`;

export async function makeCrashSite(server: StrictServer): Promise<CrashSite> {
  const repo = await makeRepo({
    files: {
      'src/greet.js': "export function greet(name) {\n  return 'hello, ' + name;\n}\n",
      'notes.txt': 'one\ntwo\n',
      'trace.mjs': traceProgram,
      'filter.mjs': filterProgram,
      'slow.dat': 'slow\n',
      '.gitattributes': 'slow.dat filter=gate\n',
    },
  });
  const filter = join(repo.root, 'filter.mjs');
  await repo.git('config', 'filter.gate.smudge', `node ${filter} smudge`);
  await repo.git('config', 'filter.gate.clean', `node ${filter} clean`);
  // Work of the user's own, which nothing may touch.
  await repo.write('notes.txt', 'one, staged\ntwo\n');
  await repo.git('add', 'notes.txt');
  await repo.write('notes.txt', 'one, staged\ntwo, edited\r\n');
  await repo.write('mine.bin', Buffer.from([0, 255, 13, 10]));
  const env = { ...modelEnv(server), SITE: repo.folder };
  return {
    repo,
    server,
    worktree: join(`${repo.root}.worktrees`, slug),
    env,
    start: (args) => startCli(args, { cwd: repo.root, env }),
    cli: (...args) => runCli(args, { cwd: repo.root, env }),
    traces: async () => {
      const text = await readFile(join(repo.folder, 'traces'), 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line !== '');
    },
    openGate: (name) => writeFile(join(repo.folder, `open-${name}`), ''),
    arrivedAt: (name) => appearance(repo.folder, `at-${name}`),
  };
}

export function closeGate(site: CrashSite, name: string): Promise<void> {
  return writeFile(join(site.repo.folder, `closed-${name}`), '');
}

/** What waits at the gate, or comes to it while `failing-<name>` stands in the folder, fails. */
export async function failAtGate(site: CrashSite, name: string): Promise<void> {
  await writeFile(join(site.repo.folder, `failing-${name}`), '');
  await site.openGate(name);
}

export async function forgetGates(site: CrashSite): Promise<void> {
  for (const name of await readdir(site.repo.folder))
    if (name.startsWith('closed-')) await rm(join(site.repo.folder, name));
}

/** The agent's whole work: a command, an edit, a command, the answer. It reads again before it edits: a resumed Run must. */
export const work: readonly Reply[] = [
  call('Read', { file_path: 'src/greet.js' }, 'First I read what the greeting says now, then I change it.'),
  call('Bash', { command: 'node trace.mjs one' }),
  call('Read', { file_path: 'src/greet.js' }),
  call('Edit', { file_path: 'src/greet.js', old_string: 'hello, ', new_string: 'good day, ' }),
  call('Bash', { command: 'node trace.mjs two' }),
  { content: [{ type: 'text', text: finalAnswer }] },
];

/** `work` with some of its answers replaced. */
export function workBut(replaced: Readonly<Record<number, Reply>>): readonly Reply[] {
  return work.map((reply, turn) => replaced[turn] ?? reply);
}

export const runArguments = ['run', 'Say good day', '--no-verify', '--allow-commands', '--json'];
export const resumeArguments = ['resume', slug, '--allow-commands', '--json'];

/** Resolves when `folder` holds `name`. */
export async function appearance(folder: string, name: string): Promise<void> {
  const watching = new AbortController();
  const isThere = (): Promise<boolean> =>
    stat(join(folder, name)).then(
      () => true,
      () => false,
    );
  await new Promise<void>((resolve, reject) => {
    const look = (): void => void isThere().then((there) => (there ? resolve() : undefined), reject);
    watch(folder, { signal: watching.signal }, look).on('error', () => undefined);
    look();
  });
  watching.abort();
}

/** What of the user's must be as it was, whatever happens to a Run. */
export async function userSide(repo: TempRepo): Promise<Record<string, string>> {
  const print = await fingerprint(repo.root);
  const refs = (print['refs'] ?? '')
    .split('\n')
    .filter((line) => !line.startsWith('refs/heads/tributary/'))
    .join('\n');
  return { ...print, refs };
}

export interface BoardRun {
  readonly id: string;
  readonly kind: string;
  readonly usage: { readonly requests: number };
  readonly status: { readonly state: string; readonly end?: { readonly reason: string } };
}

export interface BoardTask {
  readonly id: string;
  readonly slug: string;
  readonly state: string;
  readonly runs: readonly BoardRun[];
  readonly pending?: unknown;
}

/** The record on disk, asked of nobody. */
export async function recordOf(repo: TempRepo): Promise<BoardTask> {
  const tasks = join(repo.root, '.git', 'tributary', 'tasks');
  const name = (await readdir(tasks)).find((one) => one.startsWith('task_')) ?? '';
  return JSON.parse(await readFile(join(tasks, name, 'task.json'), 'utf8'));
}

export function transcriptPath(repo: TempRepo, taskId: string, runId: string): string {
  return join(repo.root, '.git', 'tributary', 'tasks', taskId, 'runs', `${runId}.jsonl`);
}

/** The entries of a Run's transcript; fails on a line that is not JSON. */
export async function entriesOf(repo: TempRepo, taskId: string, runId: string): Promise<JsonObject[]> {
  const text = await readFile(transcriptPath(repo, taskId, runId), 'utf8').catch(() => '');
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is whole');
  const lines = text.split('\n').slice(0, -1);
  return lines.slice(1).map((line) => {
    const entry: unknown = JSON.parse(line);
    assert.ok(isObject(entry));
    return entry;
  });
}

export function printedEntries(lines: readonly JsonLine[], runId: string): JsonObject[] {
  return lines.flatMap((line) =>
    line['type'] === 'entry' && line['runId'] === runId && isObject(line['entry']) ? [line['entry']] : [],
  );
}

/** A predicate for an `entry` line, by type and any of its fields. */
export function entry(type: string, fields: JsonObject = {}): (line: JsonLine) => boolean {
  return (line) => {
    const value = line['entry'];
    if (line['type'] !== 'entry' || !isObject(value) || value['type'] !== type) return false;
    return Object.entries(fields).every(([name, expected]) => value[name] === expected);
  };
}

export function event(type: string, fields: JsonObject = {}): (line: JsonLine) => boolean {
  return (line) =>
    line['type'] === type && Object.entries(fields).every(([name, expected]) => line[name] === expected);
}

/** Every tool call of the entries has exactly one result, but those that were cut by a kill. */
export function unanswered(entries: readonly JsonObject[]): string[] {
  const ended = new Map<unknown, number>();
  for (const one of entries)
    if (one['type'] === 'tool.ended') ended.set(one['toolUseId'], (ended.get(one['toolUseId']) ?? 0) + 1);
  assert.ok(
    [...ended.values()].every((count) => count === 1),
    'a call has two results',
  );
  const asked = entries.flatMap((one) => {
    const content = one['type'] === 'message' && Array.isArray(one['content']) ? one['content'] : [];
    return content
      .filter((block) => isObject(block) && block['type'] === 'tool_use')
      .map(({ id }) => String(id));
  });
  return asked.filter((id) => !ended.has(id));
}

/** Entries of a transcript stand in one chain: no id twice, each after the one before. */
export function assertChain(entries: readonly JsonObject[]): void {
  let parent: unknown = null;
  const seen = new Set<unknown>();
  for (const one of entries) {
    assert.equal(one['parentId'], parent, `entry ${String(one['id'])} follows the one before`);
    assert.ok(!seen.has(one['id']), `entry ${String(one['id'])} stands once`);
    seen.add(one['id']);
    parent = one['id'];
  }
}

/** git's worktrees and our index agree; nothing is locked; the object store is whole. */
export async function assertWorktreesAgree(repo: TempRepo): Promise<void> {
  const index: unknown = JSON.parse(
    await readFile(join(repo.root, '.git', 'tributary', 'worktrees', 'index.json'), 'utf8').catch(
      () => '{"worktrees":[]}',
    ),
  );
  assert.ok(isObject(index) && Array.isArray(index['worktrees']));
  const listing = (await repo.git('worktree', 'list', '--porcelain')).split('\n\n').slice(1);
  const listed = listing
    .filter((text) => text.trim() !== '')
    .map((text) => ({
      path: /^worktree (.*)$/m.exec(text)?.[1] ?? '',
      isLocked: /^locked/m.test(text),
      isPrunable: /^prunable/m.test(text),
    }));
  const standing: string[] = [];
  for (const { path, state } of index['worktrees']) {
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (state === 'ready') standing.push(path);
    else assert.ok(['removed', 'failed', 'creating'].includes(state), `${path} is ${state}`);
    assert.equal(isThere, state === 'ready', `${path} is ${state}`);
  }
  assert.deepEqual(listed.map(({ path }) => path).sort(), standing.sort());
  assert.deepEqual(
    listed.filter(({ isLocked, isPrunable }) => isLocked || isPrunable),
    [],
  );
  for (const path of standing) {
    await gitAt(path, 'status', '--porcelain');
    await assert.rejects(
      stat((await gitAt(path, 'rev-parse', '--git-path', 'index.lock')).toString().trim()),
      'no git lock is left',
    );
  }
  await repo.git('fsck', '--connectivity-only', '--no-dangling');
  assert.deepEqual(
    await readdir(`${repo.root}.worktrees`).then(
      (names) => names.filter((name) => name.startsWith('.')),
      () => [],
    ),
    [],
  );
}

/** Processes whose environment says that they belong to this site. */
export async function processesOf(site: CrashSite): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string): Promise<string> => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    if (!(await read('environ')).split('\0').includes(`SITE=${site.repo.folder}`)) continue;
    found.push({ pid: Number(name), command: (await read('cmdline')).replaceAll('\0', ' ') });
  }
  return found;
}

/** `later` begins with all that `earlier` sent, to the byte, cache marks aside. */
export function assertSamePrefix(earlier: RecordedRequest, later: RecordedRequest): void {
  const plain = ({ body }: RecordedRequest): JsonObject => {
    const copy: unknown = JSON.parse(JSON.stringify(body), (key, value: unknown) =>
      key === 'cache_control' ? undefined : value,
    );
    assert.ok(isObject(copy));
    return copy;
  };
  const [before, after] = [plain(earlier), plain(later)];
  const messages = (body: JsonObject): unknown[] => {
    assert.ok(Array.isArray(body['messages']));
    return body['messages'];
  };
  assert.equal(
    JSON.stringify({ ...after, messages: messages(after).slice(0, messages(before).length) }),
    JSON.stringify(before),
  );
}

/** Requests of the agent that writes. */
export function authorRequests(server: StrictServer): RecordedRequest[] {
  return server.requests.filter(({ rawBody }) => !rawBody.includes('"name":"ReportCheck"'));
}
