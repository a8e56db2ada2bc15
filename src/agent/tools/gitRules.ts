import type { Argument } from './shellWords';

/** What a git command asks for, as far as its words tell. */
export interface GitCommand {
  /** `-C`, `--git-dir`, `--work-tree` in their order. */
  readonly places: readonly { readonly option: string; readonly value: Argument | undefined }[];
  /** `name=value` of `-c` and `--config-env`. */
  readonly settings: readonly Argument[];
  readonly otherOptions: readonly string[];
  readonly subcommand: Argument | undefined;
  readonly args: readonly Argument[];
}

/** Global options whose value is the next word unless it follows `=`. */
const placeOptions = ['--git-dir', '--work-tree'];
const valueOptions = ['--namespace', '--super-prefix', '--attr-source', '--list-cmds'];

/** Reads the words after `git`. */
export function readGitCommand(words: readonly Argument[]): GitCommand {
  const places: { option: string; value: Argument | undefined }[] = [];
  const settings: Argument[] = [];
  const otherOptions: string[] = [];
  let index = 0;
  for (; index < words.length; index++) {
    const word = words[index];
    const text = word?.text;
    if (!word || text === undefined || !text.startsWith('-')) break;
    const [name = '', ...rest] = text.split('=');
    const inline = rest.length > 0 ? { ...word, text: rest.join('=') } : undefined;
    if (text === '-C' || placeOptions.includes(name))
      places.push({ option: name, value: inline ?? words[++index] });
    else if (text === '-c' || name === '--config-env') {
      const value = inline ?? words[++index];
      settings.push(value ?? { text: undefined, raw: '', isTildeLive: false });
    } else if (valueOptions.includes(name) && !inline) index++;
    else otherOptions.push(text);
  }
  return { places, settings, otherOptions, subcommand: words[index], args: words.slice(index + 1) };
}

const shared = 'is shared by every worktree of the repository';
const stash = `the stash ${shared}. Commit on this branch instead`;
const objects = `the object store ${shared}, and clean-up may drop what others need. Leave it to the user`;
const refs = `it changes refs outside this Task. Commit on this branch instead`;
const network =
  'agents do not talk to remotes. Work with what is here, and say under BLOCKERS what is missing';
const credentials = 'credentials are not for agents';

/** Refused whatever their arguments are. */
const forbidden: Readonly<Record<string, string>> = {
  stash,
  worktree: 'worktrees are made and removed by Tributary. Work in this one',
  gc: objects,
  maintenance: objects,
  prune: objects,
  'prune-packed': objects,
  repack: objects,
  'pack-refs': objects,
  'multi-pack-index': objects,
  'update-ref': refs,
  'symbolic-ref': `${refs}; \`git branch --show-current\` tells the branch`,
  reflog: "the reflog is the user's way back. `git log -g` shows it",
  bisect: 'it goes through commits and ends on any branch. Use git switch --detach <commit> to look at one',
  replace: refs,
  notes: refs,
  'filter-branch': refs,
  'filter-repo': refs,
  'fast-import': refs,
  fetch: network,
  'fetch-pack': network,
  pull: network,
  push: network,
  'send-pack': network,
  'http-push': network,
  'http-fetch': network,
  'ls-remote': network,
  daemon: network,
  shell: network,
  'receive-pack': network,
  'upload-pack': network,
  'upload-archive': network,
  'http-backend': network,
  'for-each-repo': 'it works in other repositories',
  difftool: 'it opens a window that nobody sees. `git diff` shows differences',
  mergetool: 'it opens a window that nobody sees. Edit the conflicts in the files',
  credential: credentials,
  'credential-store': credentials,
  'credential-cache': credentials,
};

/** Refused for some of their arguments: the reason, or `undefined` when these are harmless. */
const partly: Readonly<Record<string, (args: readonly Argument[]) => string | undefined>> = {
  config: (args) => (isConfigRead(args) ? undefined : `the configuration ${shared}. Reading it is allowed`),
  'sparse-checkout': (args) =>
    args[0]?.text === 'list' ? undefined : `it changes the configuration, which ${shared}`,
  tag: (args) => (isTagList(args) ? undefined : `tags are refs, and ${refs}. Listing them is allowed`),
  remote: (args) => (isRemoteRead(args) ? undefined : `remotes stand in the configuration, which ${shared}`),
  branch: (args) =>
    hasOption(args, 'dDmMfcCu', branchWrites)
      ? 'branches are deleted, moved and configured by Tributary and the user. A new branch can be made'
      : undefined,
  checkout: (args) =>
    hasOption(args, 'B', []) ? '-B moves an existing branch. Use -b for a new one' : undefined,
  switch: (args) =>
    hasOption(args, 'C', []) || args.some((arg) => /^--force-/.test(arg.text ?? ''))
      ? '-C moves an existing branch. Use -c for a new one'
      : undefined,
  grep: (args) =>
    hasOption(args, 'O', ['open-files-in-pager'])
      ? 'it runs a command on what it finds. Leave -O out'
      : undefined,
  apply: (args) =>
    hasOption(args, '', ['unsafe-paths']) ? 'it could write outside the Worktree' : undefined,
  lfs: (args) =>
    ['install', 'update', 'uninstall', 'prune', 'fetch', 'pull', 'push'].includes(args[0]?.text ?? '')
      ? `hooks, configuration and the large-file store are not this Task's, and ${network}`
      : undefined,
  submodule: (args) =>
    args.some((arg) =>
      ['foreach', 'set-url', 'set-branch', 'sync', 'deinit', 'init', 'add', 'absorbgitdirs'].includes(
        arg.text ?? '',
      ),
    ) || hasOption(args, '', ['init', 'remote'])
      ? `it runs commands elsewhere or changes the configuration, which ${shared}`
      : undefined,
};

const branchWrites = [
  'delete',
  'move',
  'copy',
  'force',
  'set-upstream-to',
  'unset-upstream',
  'edit-description',
];

/** Why `git <subcommand> <args>` is refused; `undefined` when it is not. */
export function gitRefusal(subcommand: string, args: readonly Argument[]): string | undefined {
  const always = Object.hasOwn(forbidden, subcommand) ? forbidden[subcommand] : undefined;
  if (always !== undefined) return always;
  const rule = Object.hasOwn(partly, subcommand) ? partly[subcommand] : undefined;
  if (rule) return rule(args);
  if (knownCommands.has(subcommand)) return undefined;
  return `"${subcommand}" is no git command known here, so it may be an alias for anything. Write out the command itself`;
}

/** True when `word` as a git subcommand would be refused, or refused for most of what it can do. */
export function isRefusedSubcommand(word: string): boolean {
  return Object.hasOwn(forbidden, word) || Object.hasOwn(partly, word);
}

/** Settings that a single command may be given by `-c`: never where it works, what runs, or what an alias is. */
export function isRefusedSetting(setting: string): boolean {
  return /^(alias\.|include(if)?\.|core\.(worktree|bare|hookspath|fsmonitor|sshcommand|gitproxy|askpass|editor|pager|attributesfile|alternaterefscommand)|pager\.|(diff|merge|filter|difftool|mergetool)\..*(command|textconv|driver|clean|smudge|process|cmd|external)|diff\.external|credential\.|gpg\.|rebase\.(autostash|updaterefs)|merge\.autostash|sequence\.editor|uploadpack\.|protocol\.|safe\.)/i.test(
    setting,
  );
}

/** True when one of the args is a short option of `letters` or a long one; abbreviations count, as for git. */
export function hasOption(args: readonly Argument[], letters: string, long: readonly string[]): boolean {
  const end = args.findIndex((arg) => arg.text === '--');
  return (end === -1 ? args : args.slice(0, end)).some(({ text, raw }) => {
    const word = text ?? raw;
    if (/^-[^-]/.test(word)) return [...word.slice(1)].some((letter) => letters.includes(letter));
    const name = /^--([a-z][a-z-]*)/.exec(word)?.[1];
    return name !== undefined && long.some((option) => option.startsWith(name));
  });
}

function operandsOf(args: readonly Argument[], optionsWithValue: readonly string[]): Argument[] {
  return args.filter((arg, index) => {
    const before = args[index - 1]?.text;
    return !(arg.text ?? '').startsWith('-') && !(before !== undefined && optionsWithValue.includes(before));
  });
}

const configReads = /^(--(get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|list)|-l)$/;
const configOptions =
  /^(--(global|system|local|worktree|show-origin|show-scope|null|name-only|no-includes|includes|bool|int|bool-or-int|path|expiry-date|all|regexp|(type|default|blob|value)(=.*)?)|-z)$/;

/** By what is allowed, since git takes abbreviations of all the rest. */
function isConfigRead(args: readonly Argument[]): boolean {
  const options = args.filter((arg) => (arg.text ?? '-').startsWith('-')).map((arg) => arg.text ?? '');
  if (!options.every((option) => configReads.test(option) || configOptions.test(option))) return false;
  if (options.some((option) => configReads.test(option))) return true;
  const operands = operandsOf(args, ['--type', '--default', '--blob', '--value']);
  if (['get', 'list'].includes(operands[0]?.text ?? '')) return true;
  return operands.length === 1 && operands[0]?.text?.includes('.') === true;
}

const tagLists = /^(-l|--list|-n\d*|--(contains|no-contains|points-at|merged|no-merged)(=.*)?)$/;
const tagOptions = /^(-i|--(ignore-case|omit-empty|no-column|(sort|format|color|column)(=.*)?))$/;

function isTagList(args: readonly Argument[]): boolean {
  const options = args.filter((arg) => (arg.text ?? '-').startsWith('-')).map((arg) => arg.text ?? '');
  if (!options.every((option) => tagLists.test(option) || tagOptions.test(option))) return false;
  const isList = options.some((option) => tagLists.test(option));
  return isList || operandsOf(args, ['--sort', '--format']).length === 0;
}

function isRemoteRead(args: readonly Argument[]): boolean {
  const [first] = operandsOf(args, []);
  return first === undefined || first.text === 'get-url';
}

/** The commands git itself brings, less those above. */
const knownCommands = new Set(
  `add am annotate archive blame bugreport bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout-index cherry cherry-pick  clean clone column commit commit-graph commit-tree
  count-objects describe diagnose diff diff-files diff-index diff-tree fast-export fmt-merge-msg
  for-each-ref format-patch fsck get-tar-commit-id grep hash-object help hook index-pack init
  interpret-trailers log ls-files ls-tree mailinfo mailsplit merge merge-base merge-file merge-index merge-tree
  mktag mktree mv name-rev pack-objects patch-id range-diff read-tree rebase rerere reset
  restore rev-list rev-parse revert rm shortlog show show-branch show-index show-ref status stripspace unpack-file
  unpack-objects var verify-commit verify-pack verify-tag version whatchanged write-tree`.split(/\s+/),
);
