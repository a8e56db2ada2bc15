// What the command line understands, as data: arguments are read and help is written from this one table.

export type FlagName =
  | 'repo'
  | 'json'
  | 'agent'
  | 'base'
  | 'with-uncommitted'
  | 'scope'
  | 'check'
  | 'setup'
  | 'import-setup'
  | 'teardown'
  | 'link'
  | 'clone'
  | 'include'
  | 'model'
  | 'verify'
  | 'no-verify'
  | 'demo'
  | 'allow-commands'
  | 'mode'
  | 'message'
  | 'no-gate'
  | 'dry-run'
  | 'dismiss-alarms'
  | 'path'
  | 'hunk'
  | 'as'
  | 'since-review'
  | 'merge'
  | 'fix'
  | 'older-than'
  | 'turn'
  | 'snapshot'
  | 'help'
  | 'version';

export interface FlagSyntax {
  /** The name of its value; absent for a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly isRepeatable?: boolean;
  readonly help: string;
}

export const flags: Readonly<Record<FlagName, FlagSyntax>> = {
  repo: { value: 'DIR', help: 'Any folder of the repository to work on (default: the current folder).' },
  json: { help: 'Print one JSON object a line on stdout, the result last; diagnostics go to stderr.' },
  agent: { value: 'NAME', help: 'The agent to start (default: general).' },
  base: { value: 'REF', help: 'The branch, tag or commit to start from (default: HEAD).' },
  'with-uncommitted': {
    help: 'Start from HEAD with your uncommitted changes: staged, unstaged and untracked files.',
  },
  scope: { value: 'GLOB', isRepeatable: true, help: 'Paths the Task may touch; can be repeated.' },
  check: {
    value: 'CMD',
    isRepeatable: true,
    help: 'An acceptance test: a command that must exit with 0; can be repeated.',
  },
  setup: {
    value: 'CMD',
    isRepeatable: true,
    help: 'A command that makes the new worktree ready, before the agent works there; can be repeated.',
  },
  'import-setup': {
    help: 'Take the set-up commands that a file of another tool names, such as .cursor/worktrees.json.',
  },
  teardown: {
    value: 'CMD',
    isRepeatable: true,
    help: 'A command to run in the worktree before it is removed; can be repeated.',
  },
  link: {
    value: 'DIR',
    isRepeatable: true,
    help: 'An ignored folder, such as node_modules, that the worktree gets as a link to yours; can be repeated.',
  },
  clone: {
    value: 'DIR',
    isRepeatable: true,
    help: 'The same as a copy that shares its bytes: copy-on-write, else hard links, else a link.',
  },
  include: {
    value: 'GLOB',
    isRepeatable: true,
    help: 'Ignored files to copy where the repository has no .worktreeinclude; can be repeated.',
  },
  model: { value: 'NAME', help: "The model to use instead of the agent's or the default one." },
  verify: { help: 'Verify afterwards, whatever changed; only PASS exits with 0.' },
  'no-verify': { help: 'Do not verify afterwards.' },
  demo: { help: 'Use the offline demo model: no key, no network.' },
  'allow-commands': {
    help: 'Let agents run commands in their worktree during this call; nothing is stored.',
  },
  mode: {
    value: 'MODE',
    help: 'apply (default): into the working tree; commit, merge, rebase: commits on your branch too; keep-branch: leave the branch of the Task.',
  },
  message: { value: 'TEXT', short: 'm', help: "The commit message (default: the objective's first line)." },
  'no-gate': { help: 'Land without running the acceptance tests on the result first.' },
  'dry-run': { help: 'Only show what would be written, or removed.' },
  'dismiss-alarms': {
    help: 'You have seen what changed outside the worktree while agents ran commands: do not show it again.',
  },
  path: {
    value: 'PATH',
    isRepeatable: true,
    help: 'A file of the change, as "hunks" names it; can be repeated.',
  },
  hunk: {
    value: 'ID',
    isRepeatable: true,
    help: 'A hunk of the change: its id from "hunks", or a unique beginning of it; can be repeated.',
  },
  as: { value: 'MARK', help: 'accept, reject, reviewed, or none to take marks off.' },
  'since-review': { help: 'Only what changed since you marked it as reviewed.' },
  merge: { help: 'Where you edited a file since it was accepted, keep your edits and take out the rest.' },
  fix: { help: 'Mend what is ours to mend, one by one.' },
  'older-than': {
    value: 'DAYS',
    help: 'Keep what ended less than so many days ago (default, and at least: 30).',
  },
  turn: { value: 'RUN:N', help: 'What stood after Turn N of a Run (0: before the Run).' },
  snapshot: { value: 'N', help: 'The snapshot of that number (0: the base); "tributary show" lists them.' },
  help: { short: 'h', help: 'Show help.' },
  version: { short: 'V', help: 'Show the version.' },
};

export const verbs = [
  'run',
  'list',
  'conflicts',
  'show',
  'diff',
  'hunks',
  'mark',
  'verify',
  'fix',
  'merge-in',
  'resolve',
  'accept',
  'discard',
  'restore',
  'undo',
  'stop',
  'resume',
  'worktrees',
  'sweep',
  'doctor',
] as const;
export type Verb = (typeof verbs)[number];

export interface VerbSyntax {
  /** What stands after the verb, as usage shows it; absent: nothing may. */
  readonly operand?: '"<objective>"' | 'TASK' | 'TASK|RUN';
  /** Its own flags; every verb also takes `--repo`, `--json` and `--help`. */
  readonly flags: readonly FlagName[];
  readonly summary: string;
  readonly more?: string;
}

const setupFlags: readonly FlagName[] = ['setup', 'import-setup', 'teardown', 'link', 'clone', 'include'];
const agentFlags: readonly FlagName[] = ['demo', 'allow-commands'];

export const verbSyntax: Readonly<Record<Verb, VerbSyntax>> = {
  run: {
    operand: '"<objective>"',
    flags: [
      'agent',
      'base',
      'with-uncommitted',
      'scope',
      'check',
      ...setupFlags,
      'model',
      'verify',
      'no-verify',
      ...agentFlags,
    ],
    summary: 'Give an agent a Task in its own worktree and watch it work.',
    more: 'Your checkout is not touched until you accept. Ctrl-C stops the Run and keeps its work; a second one forces.\nExit code: 0 done, and PASS if a verdict was made; 1 failed, or another verdict; 130 stopped.',
  },
  list: { flags: [], summary: 'List the Tasks of this repository, newest first.' },
  conflicts: {
    flags: [],
    summary: 'Show which open Tasks touch the same files, which conflict, and in which order to accept them.',
    more: 'Compares the newest snapshots with each other and with what your checkout holds now.',
  },
  show: {
    operand: 'TASK|RUN',
    flags: ['dismiss-alarms'],
    summary: 'Show the states, base, path, alarms, verdict and files of a Task, and what to do next.',
  },
  diff: {
    operand: 'TASK',
    flags: [],
    summary: 'Print what a Task changed as a patch that git can apply.',
    more: 'With --json: one record per changed file, no patch.',
  },
  hunks: {
    operand: 'TASK',
    flags: ['since-review'],
    summary: 'List the files and hunks of a Task, with their ids and your marks.',
  },
  mark: {
    operand: 'TASK',
    flags: ['path', 'hunk', 'as'],
    summary: 'Mark files or hunks to be accepted, rejected, or as reviewed; without any, the whole change.',
    more: 'Nothing is written before you accept. "accept" leaves out what you rejected; a mark holds as long as the hunk stays as it is.',
  },
  verify: {
    operand: 'TASK',
    flags: agentFlags,
    summary: 'Have a verifier try to break the change; its verdict is bound to evidence.',
    more: 'Exit code: 0 only for PASS.',
  },
  fix: {
    operand: 'TASK',
    flags: agentFlags,
    summary: 'Send the open findings to an implementer, then verify again.',
    more: 'Exit code: 0 for PASS, and when there is no open finding.',
  },
  'merge-in': {
    operand: 'TASK',
    flags: [],
    summary:
      'Merge what your checkout holds now into the worktree of a Task, to resolve conflicts there by hand.',
    more: 'Your checkout is not touched. Texts in conflict get markers; of other files the side of the Task stands, which\na second "merge-in" takes for decided.',
  },
  resolve: {
    operand: 'TASK',
    flags: agentFlags,
    summary: 'The same, then have the agent of the Task resolve the conflicts that are left.',
    more: 'Exit code: 0 when nothing conflicts or all is resolved, and PASS if a verdict was made; 3 while conflicts are left.',
  },
  accept: {
    operand: 'TASK',
    flags: ['path', 'hunk', 'mode', 'message', 'no-gate', 'dry-run'],
    summary: 'Show what would be written, then write it into your checkout if nothing conflicts.',
    more: [
      'With --path or --hunk only that part lands, and the Task stays open. Otherwise all that you did not reject lands.',
      'The commands given by --check run first, on the merged files in a scratch checkout: one that fails writes nothing.',
      'A verdict is shown and never blocks. The worktree is removed, its snapshot kept; undo brings both back.',
      'Commits are yours: your name, your signature, your hooks. Your uncommitted edits stay uncommitted.',
    ].join('\n'),
  },
  discard: {
    operand: 'TASK',
    flags: [],
    summary: 'Put a Task away; a snapshot is kept so that it can be restored.',
  },
  restore: {
    operand: 'TASK',
    flags: ['turn', 'snapshot'],
    summary: 'Bring a discarded Task back, or put the worktree of an open one to an earlier state.',
    more: 'With --turn or --snapshot: what stands there is recorded first, so that it can be taken back.',
  },
  undo: {
    operand: 'TASK',
    flags: ['merge', 'dry-run'],
    summary: 'Take what was accepted last of a Task out of your checkout again, byte for byte.',
    more: 'Files that you edited since are left alone, and nothing is written; with --merge your edits stay and the rest goes.',
  },
  stop: {
    operand: 'TASK|RUN',
    flags: [],
    summary: 'Stop what runs, in whichever process; the work done so far is kept.',
  },
  resume: {
    operand: 'TASK',
    flags: agentFlags,
    summary: 'Go on with the last Run of a Task that was stopped, interrupted or failed.',
  },
  worktrees: {
    flags: [],
    summary: 'List the worktrees of Tasks: state, size, last use, whether anything is changed.',
  },
  sweep: {
    flags: ['dry-run', 'older-than'],
    summary: 'Remove what nobody needs: idle worktrees without changes, what was kept of old Tasks.',
    more: 'Nothing of an open Task is lost: a worktree without changes comes back when its Task goes on.\nWhat an accepted or discarded Task kept (snapshots, ignored files, its undo) goes after 30 days; its record and transcripts stay.',
  },
  doctor: {
    flags: ['fix'],
    summary: 'Say what is wrong with worktrees, records and refs of Tasks; --fix mends it.',
    more: 'Without --fix nothing is changed. Exit code: 0 when nothing is wrong, or all of it was mended.',
  },
};

/** Every flag a verb takes. */
export function flagsOf(verb: Verb): readonly FlagName[] {
  return [...verbSyntax[verb].flags, 'repo', 'json', 'help'];
}

export function isVerb(text: string): text is Verb {
  return verbs.some((verb) => verb === text);
}

export function isFlagName(text: string): text is FlagName {
  return Object.hasOwn(flags, text);
}
