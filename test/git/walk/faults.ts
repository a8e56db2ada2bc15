import childProcess from 'node:child_process';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Fault } from './steps';

/** Calls that a full disk refuses; the others of `changing` still work on one. */
const growing = ['writeFile', 'appendFile', 'mkdir', 'symlink', 'link', 'copyFile', 'cp', 'mkdtemp'];
const changing = [...growing, 'rename', 'unlink', 'rm', 'rmdir', 'chmod', 'truncate'];
const ofHandles = ['write', 'writeFile', 'appendFile', 'writev'];

type AnyCall = (...args: unknown[]) => unknown;

/**
 * From here on this process is killed at the operation that the fault names, or finds its disk full there; what it
 * starts then can write no file either.
 */
export function install(fault: Fault): void {
  let count = 0;
  const isFullNow = (): boolean =>
    fault.kind === 'full' && count >= fault.at && count < fault.at + fault.lasting;
  const point = (what: string): void => {
    if (fault.kind === 'kill' && fault.match !== undefined && !new RegExp(fault.match).test(what)) return;
    count += 1;
    if (process.env['TRIBUTARY_WALK_OPERATIONS'] !== undefined) process.stderr.write(`${count} ${what}\n`);
    if (fault.kind === 'kill' && count === fault.at) process.kill(process.pid, 'SIGKILL');
  };
  const counted =
    (name: string, grows: boolean, original: AnyCall): AnyCall =>
    async (...args) => {
      point(`${name} ${args.filter((arg) => typeof arg === 'string').join(' ')}`);
      if (grows && isFullNow()) throw full(name);
      return original(...args);
    };
  patch(fs, changing, (name, original) => counted(name, growing.includes(name), original));
  patch(fs, ['open'], (_name, original) => async (...args) => {
    const handle: unknown = await original(...args);
    if (typeof handle === 'object' && handle !== null && /[wax+]/.test(String(args[1] ?? 'r')))
      patch(handle, ofHandles, (name, own) => counted(`${name} ${String(args[0])}`, true, own.bind(handle)));
    return handle;
  });
  patch(childProcess, ['spawn'], (_name, original) => (command, args, ...rest) => {
    const list = Array.isArray(args) ? args.map(String) : [];
    point(`spawn ${String(command)} ${list.join(' ')}`);
    if (!isFullNow()) return original(command, args, ...rest);
    const script = 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"';
    return original('sh', ['-c', script, command, ...list], ...rest);
  });
  syncBuiltinESMExports();
}

function patch(
  target: object,
  names: readonly string[],
  by: (name: string, original: AnyCall) => AnyCall,
): void {
  for (const name of names) {
    const original: unknown = Reflect.get(target, name);
    if (typeof original !== 'function') continue;
    const call: AnyCall = (...args) => Reflect.apply(original, target, args);
    Reflect.set(target, name, by(name, call));
  }
}

function full(syscall: string): Error {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), {
    code: 'ENOSPC',
    errno: -28,
    syscall,
  });
}
