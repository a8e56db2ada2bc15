import type { FileChange } from '../model/changes';
import { type ConflictReason, reasonOf, saidBeyond } from '../model/conflictReason';
import type { Conflict, LandingPath } from '../model/landing';
import { plainLine } from '../model/plainText';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { Usage } from '../model/usage';
import type { Check, Finding, Verdict } from '../model/verdict';
import { sentence } from './messages';
import type { Paint } from './paint';

// How the product's records read on a terminal. Everything that comes from outside goes through `plainLine`.

export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** How long ago, in the largest unit that fits. */
export function ageText(at: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(at)) / 1_000));
  if (!Number.isFinite(seconds)) return '?';
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A size as people read it; `>` where not all of it was counted. */
export function sizeText({ bytes, isWhole }: { bytes: number; isWhole: boolean }): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  const text = unit === 0 || value >= 100 ? Math.round(value).toString() : value.toFixed(1);
  return `${isWhole ? '' : '>'}${text} ${units[unit]}`;
}

export function usageText({ requests, input, output, cacheRead, cacheWrite }: Usage): string {
  const cached = cacheRead + cacheWrite > 0 ? ` (+${cacheRead} from cache, ${cacheWrite} to cache)` : '';
  return `${requests} ${requests === 1 ? 'request' : 'requests'}, ${input} tokens in${cached}, ${output} out`;
}

/** Checks, Findings, `VERDICT:` and the tree it holds for. */
export function verdictText(verdict: Verdict, paint: Paint): string {
  const word = verdict.verdict;
  const paintWord = word === 'PASS' ? paint.green : word === 'FAIL' ? paint.red : paint.yellow;
  return [
    ...verdict.checks.map((check) => checkText(check, paint)),
    ...verdict.findings.map((finding) => findingText(finding)),
    ...verdict.reasons.map((reason) => `note: ${plainLine(reason)}`),
    paint.bold(paintWord(`VERDICT: ${word}`)),
    `tree ${plainLine(verdict.tree)}`,
    '',
  ].join('\n');
}

function checkText(check: Check, paint: Paint): string {
  const exit = check.exitCode === null ? 'no exit code' : `exit ${check.exitCode}`;
  const word = { pass: paint.green('pass'), fail: paint.red('fail'), skip: paint.yellow('skip') }[
    check.result
  ];
  const claim = check.evidence === 'unobserved' ? ' [claimed, not observed]' : '';
  const title = plainLine(check.title);
  const by = check.evidence === 'host' ? 'run by the host' : title;
  return `${word}: ${shortCommand(check.command)} (${exit})${claim}${by === '' ? '' : ` # ${by}`}`;
}

/** A command as a glance wants it; the whole one is in the transcript and in `--json`. */
function shortCommand(command: string): string {
  const line = plainLine(command);
  return line.length <= longestCommand ? line : `${line.slice(0, longestCommand - 1)}…`;
}

const longestCommand = 72;

/** `path:line severity title`. */
export function findingText({ location, severity, title }: Finding): string {
  const place = location === undefined ? '' : `${plainLine(location.path)}:${location.line} `;
  return `${place}${severity} ${plainLine(title)}`;
}

const statusLetters: Readonly<Record<FileChange['status'], string>> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
  typeChanged: 'T',
};

export function fileText(file: FileChange): string {
  const from = file.oldPath === undefined ? '' : `${plainLine(file.oldPath)} -> `;
  const size = file.isBinary ? 'binary' : `+${file.added} -${file.removed}`;
  return `${statusLetters[file.status]} ${from}${plainLine(file.path)} (${size}${modeText(file)})`;
}

/** A file that a script is made of, or no more, changes its mode beside its text, or alone. */
function modeText({ status, oldMode, newMode }: FileChange): string {
  const stands = status === 'modified' || status === 'renamed' || status === 'typeChanged';
  return stands && oldMode !== newMode ? `, mode ${oldMode} -> ${newMode}` : '';
}

/** A path a Landing writes: added, modified or deleted. */
export function landingPathText({ path, before, after }: LandingPath): string {
  const letter = before === 'absent' ? 'A' : after === 'absent' ? 'D' : 'M';
  return `${letter} ${plainLine(path)}`;
}

const reasonTexts: Readonly<Record<ConflictReason, string>> = {
  markers: 'conflict markers',
  kept: "the Task's side stands",
  sameLines: 'both sides changed the same lines',
  changedAndDeleted: 'one side changed it, the other deleted it',
  bothAdded: 'both sides added it',
  binary: 'both sides changed it, and it is no text',
  fileAndFolder: 'a file on one side, a folder on the other',
  fileAndLink: 'a file on one side, a link on the other',
  submodule: 'both sides moved the submodule',
  untracked: 'an untracked file of yours is in the way',
  staged: 'what you staged conflicts with it',
  renamed: 'renamed on one side or both',
};

/** A file and why it conflicts, in words. */
export function conflictText(conflict: Conflict): string {
  const reason = reasonOf(conflict.kind);
  const words = reason === undefined ? plainLine(conflict.kind) : reasonTexts[reason];
  const more = plainLine(saidBeyond(conflict));
  return `${plainLine(conflict.path)}: ${words}${more === '' ? '' : ` (${more})`}`;
}

export function runText(run: Run): string {
  const { status } = run;
  const end = 'end' in status && status.state !== 'completed' ? ` (${plainLine(status.end.reason)})` : '';
  return `${run.id} ${run.kind} ${plainLine(run.agent)} ${plainLine(run.model)}: ${status.state}${end}`;
}

/** A branch as people write it. */
export function branchText(task: Task): string {
  return plainLine(task.branch ?? '').replace(/^refs\/heads\//, '');
}

/** Rows as aligned columns, two blanks apart; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    });
  return rows.map((row) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  '),
  );
}

/** Where that is what a Worktree held and no Snapshot does, once it is gone. */
export function keptRows(task: Task): string[] {
  const folders = (task.keptFolders ?? []).map(plainLine);
  return [
    ...(task.aside === undefined ? [] : [`what no snapshot holds is kept in ${plainLine(task.aside)}`]),
    ...folders.map((folder) => `could not be emptied, and is kept whole: ${folder}`),
  ];
}

/** The same as sentences, a line each. */
export function keptText(task: Task): string {
  return keptRows(task)
    .map((row) => `${sentence(row)}\n`)
    .join('');
}
