import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import * as z from 'zod';
import type { Call, Came } from './perform';
import type { Fault } from './steps';

const root = process.env['TRIBUTARY_ROOT'] ?? process.cwd();

const requireShim =
  "import { createRequire as shimRequire } from 'node:module'; const require = shimRequire(import.meta.url);";

const cameSchema = z.object({
  outcome: z.string().optional(),
  failure: z.string().optional(),
  message: z.string().optional(),
  paths: z.array(z.string()).optional(),
  aside: z.array(z.string()).optional(),
});

export interface StepRequest {
  readonly directory: string;
  readonly baseUrl: string;
  readonly call: Call;
  readonly fault: Fault;
}

/** Real processes that do one step each and may be killed at it. */
export class StepProcesses {
  private readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<StepProcesses> {
    // Below the packages, which stay outside the bundle.
    await mkdir(join(root, 'out'), { recursive: true });
    const folder = await mkdtemp(join(root, 'out', 'walk-'));
    await build({
      absWorkingDir: root,
      entryPoints: [join(root, 'test', 'git', 'walk', 'child.ts')],
      outfile: join(folder, 'child.mjs'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      loader: { '.md': 'text' },
      // All of it in one file: a process lives for one step, and reading hundreds of files takes longer than that.
      external: ['@vscode/ripgrep'],
      banner: { js: requireShim },
      logLevel: 'warning',
      define: { 'process.env.TRIBUTARY_ROOT': JSON.stringify(root) },
    });
    return new StepProcesses(folder);
  }

  /** `killed` is what came of one that was. */
  async perform(request: StepRequest): Promise<Came> {
    const child = spawn(process.execPath, [join(this.folder, 'child.mjs'), JSON.stringify(request)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    await once(child, 'close');
    if (child.signalCode === 'SIGKILL') return { outcome: 'killed', message: errors };
    const line = said.trim().split('\n').at(-1) ?? '';
    if (line === '') throw new Error(`the process said nothing, ended with ${child.exitCode}: ${errors}`);
    return cameSchema.parse(JSON.parse(line));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
