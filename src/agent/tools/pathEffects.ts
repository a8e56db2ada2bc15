import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { realFolder } from './guardPaths';
import type { GuardPlaces, ShellScope } from './guardScope';
import { isInside } from './paths';
import type { Argument } from './shellWords';

type Words = readonly Argument[];

/** Commands that remove or overwrite, and which of their words they do it to. */
const effects: Readonly<Record<string, (args: Words) => Words>> = {
  rm: everyOperand,
  rmdir: everyOperand,
  unlink: everyOperand,
  shred: everyOperand,
  truncate: everyOperand,
  tee: everyOperand,
  chmod: everyOperand,
  chown: everyOperand,
  chgrp: everyOperand,
  mv: (args) => [...everyOperand(args), ...targetOption(args)],
  cp: target,
  ln: target,
  install: target,
  rsync: target,
  sed: editedInPlace,
  perl: editedInPlace,
  dd: (args) => args.filter((arg) => arg.text?.startsWith('of=')).map((arg) => from(arg, 3)),
  find: searched,
};

/** Names that stand for a command behind `env`, `xargs` and the like; `install` there is mostly a script's word. */
export function isEffectName(name: string): boolean {
  return Object.hasOwn(effects, name) && name !== 'install';
}

/** Why a command well known to remove or overwrite is refused: a path written out in it leaves the Worktree. */
export async function effectRefusal(
  { name, args, scope }: { name: string; args: Words; scope: ShellScope },
  places: GuardPlaces,
): Promise<string | undefined> {
  const words = Object.hasOwn(effects, name) ? effects[name]?.(args) : undefined;
  return words ? outsideRefusal(words, { what: name, scope }, places) : undefined;
}

/** The first of `words` that leads out of the Worktree, as the reason against `what`. */
export async function outsideRefusal(
  words: Words,
  { what, scope }: { what: string; scope: ShellScope },
  places: GuardPlaces,
): Promise<string | undefined> {
  for (const word of words) {
    const path = writtenPath(word, places);
    if (path === undefined) continue;
    if (leadsGit(path, { what, scope }, places))
      return `${what} ${word.raw} would change which repository git works on. Use git commands instead.`;
    if (await isOwnPlace(path, scope.cwd, places)) continue;
    return `${what} ${word.raw} reaches outside the Worktree. Stay inside it, or use a folder of your own below /tmp.`;
  }
  return undefined;
}

/** A `.git` says which repository git works on from there; without one inside, git goes on looking above. */
function leadsGit(
  path: string,
  { what, scope }: { what: string; scope: ShellScope },
  { root, mainCheckout }: GuardPlaces,
): boolean {
  if (mainCheckout === undefined || basename(path).toLowerCase() !== '.git') return false;
  const isRemoval = /^(rm|rmdir|unlink)$/.test(what);
  return !isRemoval || scope.cwd === undefined || dirname(resolve(scope.cwd, path)) === root;
}

/** What is known of a path before the first part that only a shell can tell; `undefined` when nothing is. */
function writtenPath(word: Argument, places: GuardPlaces): string | undefined {
  const raw = word.raw.replace(/["']/g, '');
  // These lead to where the shell was before, or to somebody's home.
  if (/^~[-\w]|^\$\{?OLDPWD\b/.test(raw) && (word.isTildeLive || word.text === undefined)) return '/';
  const text = word.text ?? /^[^$*?[{`]*\//.exec(raw)?.[0];
  if (text === undefined || !word.isTildeLive) return text;
  return /^~(\/|$)/.test(text) ? (places.env['HOME'] ?? '/') + text.slice(1) : undefined;
}

/** By its name, so that a link such as node_modules stays usable; by where it really is when the name says no. */
async function isOwnPlace(path: string, cwd: string | undefined, places: GuardPlaces): Promise<boolean> {
  if (!isAbsolute(path) && cwd === undefined) return true;
  const named = resolve(cwd ?? places.root, path);
  if (isOwn(named, places) || isDevice(named)) return true;
  // Below /tmp only by its whole name: `..` out of a Worktree that lies there itself leads to others.
  if (isAbsolute(path) && isTemporary(named, places)) return true;
  return isOwn(await realFolder(named), places);
}

function isOwn(path: string, { root, env }: GuardPlaces): boolean {
  const scratch = env['TRIBUTARY_SCRATCH'];
  return isInside(path, root) || (scratch !== undefined && scratch !== '' && isInside(path, scratch));
}

function isDevice(path: string): boolean {
  return /^\/dev\/(null|zero|full|tty|stdin|stdout|stderr|fd\/\d+)$/.test(path);
}

/** Truly below a folder for temporary files, and neither around nor beside what this repository uses. */
function isTemporary(path: string, { root, mainCheckout, commonDir, env }: GuardPlaces): boolean {
  const folders = ['/tmp', '/var/tmp', '/private/tmp', ...(env['TMPDIR'] ? [resolve(env['TMPDIR'])] : [])];
  const isBelow = folders.some((folder) => path !== folder && isInside(path, folder));
  const beside = folders.includes(dirname(root)) ? root : dirname(root);
  const kept = [beside, commonDir, ...(mainCheckout === undefined ? [] : [mainCheckout])];
  return isBelow && !kept.some((folder) => isInside(path, folder) || isInside(folder, path));
}

function everyOperand(args: Words): Words {
  const end = args.findIndex((arg) => arg.text === '--');
  return args.filter((arg, index) => (end !== -1 && index > end) || !(arg.text ?? arg.raw).startsWith('-'));
}

function target(args: Words): Words {
  const named = targetOption(args);
  return named.length > 0 ? named : everyOperand(args).slice(-1);
}

function targetOption(args: Words): Words {
  return args.flatMap((arg, index) => {
    const value = /^(?:-[a-zA-Z]*t(?=[./~])|--target-directory=)/.exec(arg.text ?? '')?.[0];
    if (value !== undefined) return [from(arg, value.length)];
    const next = args[index + 1];
    return /^(-[a-zA-Z]*t|--target-directory)$/.test(arg.text ?? '') && next ? [next] : [];
  });
}

/** With `-i` the files stand last; a script in front of them is no path. */
function editedInPlace(args: Words): Words {
  const isInPlace = args.some((arg) => /^(-[nrEszulapw0]*i|--in-place)/.test(arg.text ?? ''));
  return isInPlace ? everyOperand(args).slice(-1) : [];
}

/** Where find begins, when it removes, or runs what does or might. */
function searched(args: Words): Words {
  const removes = args.some(({ text }, index) => {
    if (/^-(delete|fprint0?|fprintf|fls)$/.test(text ?? '')) return true;
    const run = args[index + 1]?.text;
    const name = run === undefined ? undefined : relative('/', resolve('/', run)).split('/').at(-1);
    return (
      /^-(exec|execdir|ok|okdir)$/.test(text ?? '') &&
      !/^(cat|echo|grep|head|ls|stat|tail|wc)$/.test(name ?? '')
    );
  });
  if (!removes) return [];
  const begins = args.findIndex(({ text }) => /^(-[a-zA-Z]{2,}|[(!])/.test(text ?? ''));
  return args
    .slice(0, begins === -1 ? undefined : begins)
    .filter(({ text }) => !/^-[HLPDO]/.test(text ?? ''));
}

function from(arg: Argument, start: number): Argument {
  const text = arg.text?.slice(start);
  return { text, raw: text ?? arg.raw, isTildeLive: false };
}
