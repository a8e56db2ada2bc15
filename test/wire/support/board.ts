import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../../src/composeCore';
import { settingsSchema } from '../../../src/model/settings';
import type { Task } from '../../../src/model/task';
import { type Reply, type StrictServer, startStrictServer } from './strictServer';

/** A Run that writes these files, a Turn each, and says that it is done. */
export function writing(files: Readonly<Record<string, string>>): readonly Reply[] {
  const writes = Object.entries(files).map(
    ([path, content]): Reply => ({
      content: [{ type: 'tool_use', name: 'Write', input: { file_path: path, content } }],
    }),
  );
  const text =
    'SUMMARY: Done.\n\nCHANGES:\n- x\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.';
  return [...writes, { content: [{ type: 'text', text }] }];
}

/** Cores over real git and a strict server, for tests of what stays between two of them. */
export class TestCores {
  readonly server: StrictServer;
  private readonly cores: Core[] = [];

  private constructor(server: StrictServer) {
    this.server = server;
  }

  static async start(): Promise<TestCores> {
    return new TestCores(await startStrictServer({ apiKey: 'test-key' }));
  }

  async open(directory: string): Promise<Core> {
    const core = await composeCore({
      directory,
      settings: () =>
        settingsSchema.parse({ model: { baseUrl: this.server.url }, verify: { when: 'never' } }),
      env: process.env,
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
    this.cores.push(core);
    return core;
  }

  /** Lets the next Run make these files, one Turn after another. */
  script(files: Readonly<Record<string, string>>): void {
    const replies = writing(files);
    let before: number | undefined;
    this.server.script((request) => {
      const { messages } = request.body;
      const turns = Array.isArray(messages)
        ? messages.filter((message) => JSON.stringify(message).includes('"role":"assistant"')).length
        : 0;
      before ??= turns;
      return replies[Math.min(turns - before, replies.length - 1)] ?? assert.fail('no reply');
    });
  }

  /** A Task whose Run made these files, one Turn after another. */
  async task(core: Core, objective: string, files: Readonly<Record<string, string>>): Promise<Task> {
    this.script(files);
    const packet = await core.tasks.prepare({ objective });
    return (await (await core.tasks.start({ packet, verify: 'never' })).settled).task;
  }

  async close(): Promise<void> {
    await Promise.all(this.cores.splice(0).map((core) => core.dispose()));
    await this.server.close();
  }
}

/** Lets a Task and its Worktree be as old as so many days, as its record tells. */
export async function age(core: Core, task: Task, days: number): Promise<void> {
  const at = new Date(Date.now() - days * 24 * 60 * 60 * 1_000).toISOString();
  const board = join(core.repository.commonDir, 'tributary');
  for (const file of [join(board, 'tasks', task.id, 'task.json'), join(board, 'worktrees', 'index.json')]) {
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/"(changedAt|endedAt)": "[^"]*"/g, `"$1": "${at}"`));
  }
}
