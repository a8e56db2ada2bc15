import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, testGitEnvironment } from '../../git/support/tempRepo';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real file system of a few megabytes, seen only by the commands that run in it. */
export interface TinyDisk {
  readonly root: string;
  run(
    command: readonly string[],
    options?: { cwd?: string; env?: Readonly<Record<string, string>> },
  ): Promise<Ended>;
  /** Bytes that are free. */
  free(): Promise<number>;
  /** Leaves at most `bytes` free. */
  fill(bytes: number): Promise<void>;
  empty(): Promise<void>;
  dispose(): Promise<void>;
}

/** Mounts one in a name space of its own; needs Linux with user name spaces. Throws where that is not to be had. */
export async function makeTinyDisk(megabytes: number): Promise<TinyDisk> {
  const root = join(await makeFolder(), 'disk');
  await mkdir(root);
  const mount = `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && echo ready && exec cat`;
  const holder = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', mount, root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await ready(holder);
  const enter = (
    command: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Ended> => {
    const inside = [
      '--preserve-credentials',
      '-U',
      '-m',
      '-t',
      String(holder.pid),
      'sh',
      '-c',
      'cd "$0" && exec "$@"',
      cwd,
      ...command,
    ];
    return collect(
      spawn('nsenter', inside, {
        env: { ...testGitEnvironment(), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  };
  const run: TinyDisk['run'] = (command, { cwd = root, env = {} } = {}) => enter(command, cwd, env);
  const free = async (): Promise<number> =>
    Number(
      (await run(['stat', '-f', '--format=%a %S', root])).stdout
        .split(' ')
        .reduce((a, b) => a * Number(b), 1),
    );
  return {
    root,
    run,
    free,
    async fill(bytes) {
      const size = (await free()) - bytes;
      await run(['sh', '-c', `head -c ${Math.max(0, size)} /dev/zero > .filler`]);
    },
    async empty() {
      await run(['rm', '-f', '.filler']);
    },
    async dispose() {
      holder.stdin?.end();
      if (holder.exitCode === null) await once(holder, 'exit');
    },
  };
}

async function ready(holder: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    holder.once('error', reject);
    holder.once('exit', (code) =>
      reject(new Error(`no name space of its own could be made (exit code ${code})`)),
    );
    holder.stdout?.once('data', () => resolve());
  });
}

async function collect(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [exitCode]: unknown[] = await once(child, 'close');
  return { exitCode: typeof exitCode === 'number' ? exitCode : null, stdout, stderr };
}
