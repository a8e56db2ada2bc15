import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';

const root = process.env['TRIBUTARY_ROOT'] ?? process.cwd();

/** Real processes that run a file of `children/`. */
export class ChildProcesses {
  private readonly folder: string;
  private readonly script: string;
  private readonly running = new Set<Child>();

  private constructor(folder: string, script: string) {
    this.folder = folder;
    this.script = script;
  }

  /** `name`: a file of `children/`, without its ending. */
  static async of(name: string): Promise<ChildProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'tributary-children-'));
    const script = join(folder, `${name}.mjs`);
    await build({
      absWorkingDir: root,
      entryPoints: [join(root, 'test', 'store', 'children', `${name}.ts`)],
      outfile: script,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      logLevel: 'warning',
    });
    return new ChildProcesses(folder, script);
  }

  start(request: unknown): Child {
    const child = new Child(
      spawn(process.execPath, [this.script, JSON.stringify(request)], { stdio: 'pipe' }),
    );
    this.running.add(child);
    void child.ended.then(() => this.running.delete(child));
    return child;
  }

  async remove(): Promise<void> {
    await Promise.all([...this.running].map((child) => child.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }
}

export class Child {
  /** What it printed so far, by line. */
  readonly lines: string[] = [];
  /** Its exit code or signal, and what it wrote to stderr; resolves when all output is here. */
  readonly ended: Promise<{ code: number | null; signal: string | null; errors: string }>;
  private readonly process: ChildProcess;
  private readonly wakers = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.process = child;
    let errors = '';
    child.stderr?.on('data', (data: Buffer) => {
      errors += data.toString('utf8');
    });
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        this.lines.push(line);
        for (const wake of this.wakers) wake();
      });
    }
    this.ended = once(child, 'close').then(() => {
      for (const wake of this.wakers) wake();
      return { code: child.exitCode, signal: child.signalCode, errors };
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Resolves when a line says `text`; rejects when it ends without. */
  async says(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (this.lines.includes(text)) resolve();
        else if (this.process.exitCode !== null || this.process.signalCode !== null) {
          reject(new Error(`the child ended without saying ${text}`));
        } else return;
        this.wakers.delete(look);
      };
      this.wakers.add(look);
      look();
    });
  }

  tell(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}
