import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { DisposableStack } from '../../base/disposable';
import type { Logger } from '../../base/logger';
import { clip, plainText } from '../../model/plainText';
import { currentVerdict, type Task } from '../../model/task';
import type { Finding } from '../../model/verdict';
import type { WindowBoards } from '../boards';
import type { ChangedFiles } from '../changedFiles';
import { shown, verdictText } from '../taskWords';
import { Throttle } from '../throttle';
import { type PlacedFinding, placedFindings } from './findingPlaces';
import { mapLines } from './lineMap';

export interface FindingDiagnosticsDeps {
  readonly boards: WindowBoards;
  readonly files: ChangedFiles;
  readonly logger: Logger;
}

/** A diagnostic and the Finding it stands for. */
export interface ShownFinding {
  readonly diagnostic: vscode.Diagnostic;
  readonly task: Task;
  readonly finding: Finding;
}

export const diagnosticSource = 'Tributary';
const refreshMs = 200;
/** The hover and the Problems list draw all of it; the verdict card has the rest. */
const longestDetail = 2_000;

/**
 * Open Findings as diagnostics, on the Worktree's files and, mapped through the difference, on the checkout's own.
 * They move with edits, are marked stale where their lines were changed, and go with the Task.
 */
export class FindingDiagnostics implements vscode.Disposable {
  private readonly deps: FindingDiagnosticsDeps;
  private readonly collection = vscode.languages.createDiagnosticCollection('tributary');
  private readonly subscriptions = new DisposableStack();
  private readonly throttle = new Throttle(refreshMs, () => void this.refresh());
  private readonly watchers = new Map<string, vscode.Disposable>();
  /** The text each Finding was made on, by tree and path; `undefined`: there is none that can be read. */
  private readonly verdictTexts = new Map<string, Promise<string | undefined>>();
  private byUri = new Map<string, readonly ShownFinding[]>();
  private round = 0;

  constructor(deps: FindingDiagnosticsDeps) {
    this.deps = deps;
    for (const subscription of [
      deps.boards.onDidChange(() => this.throttle.ask()),
      deps.files.onDidLoad(() => this.throttle.ask()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.lookAgainAt(document.uri)),
      vscode.workspace.onDidOpenTextDocument(({ uri }) => this.lookAgainAt(uri)),
    ])
      this.subscriptions.add(subscription);
  }

  /** The Findings shown in a file. */
  of(uri: vscode.Uri): readonly ShownFinding[] {
    return this.byUri.get(uri.toString()) ?? [];
  }

  dispose(): void {
    this.round += 1;
    this.throttle.dispose();
    this.subscriptions.dispose();
    for (const watcher of this.watchers.values()) watcher.dispose();
    this.collection.dispose();
  }

  private lookAgainAt(uri: vscode.Uri): void {
    if (this.watchers.has(uri.fsPath)) this.throttle.ask();
  }

  /** Everything anew; a later round makes an earlier one stop. */
  private async refresh(): Promise<void> {
    this.round += 1;
    const { round } = this;
    const found = new Map<string, { readonly uri: vscode.Uri; readonly shown: ShownFinding[] }>();
    for (const board of this.deps.boards.all) {
      for (const task of board.tasks) {
        const placed = this.placed(task);
        for (const root of placed.length === 0 ? [] : rootsOf(task)) {
          for (const one of placed) {
            const uri = vscode.Uri.file(join(root, ...one.path.split('/')));
            const diagnostic = await this.diagnosticIn({ uri, isOfTask: root === placeOf(task) }, task, one);
            if (round !== this.round) return;
            if (diagnostic === undefined) continue;
            const entry = found.get(uri.toString()) ?? { uri, shown: [] };
            entry.shown.push({ diagnostic, task, finding: one.finding });
            found.set(uri.toString(), entry);
          }
        }
      }
    }
    this.publish([...found.values()]);
  }

  private placed(task: Task): PlacedFinding[] {
    if (task.state !== 'open' || task.verdicts.length === 0) return [];
    const needsFiles = placedFindings(task, []).length < placedFindings(task, [anyFile]).length;
    return placedFindings(task, needsFiles ? this.deps.files.of(task) : []);
  }

  private publish(entries: readonly { uri: vscode.Uri; shown: readonly ShownFinding[] }[]): void {
    const next = new Map(entries.map(({ uri, shown }) => [uri.toString(), shown]));
    for (const gone of this.byUri.keys())
      if (!next.has(gone)) this.collection.delete(vscode.Uri.parse(gone, true));
    for (const { uri, shown } of entries)
      if (looksOf(shown) !== looksOf(this.byUri.get(uri.toString()) ?? []))
        this.collection.set(
          uri,
          shown.map(({ diagnostic }) => diagnostic),
        );
    this.byUri = next;
    this.watch(entries.map(({ uri }) => uri.fsPath));
  }

  /** `undefined`: the file is not there. */
  private async diagnosticIn(
    { uri, isOfTask }: { uri: vscode.Uri; isOfTask: boolean },
    task: Task,
    placed: PlacedFinding,
  ): Promise<vscode.Diagnostic | undefined> {
    const now = await textOf(uri);
    if (now === undefined) return undefined;
    const then = await this.verdictText(task, placed.path);
    // The evidence was seen in the Task's files; the checkout's own may be right where they differ.
    const isSeenHere = isOfTask || then === now;
    if (!placed.isLocated)
      return diagnosticOf(task, placed, { line: 1, endLine: 1, isSame: true, isSeenHere });
    const mapped = then === undefined ? { ...placed, isSame: false } : mapLines(then, now, placed);
    return diagnosticOf(task, placed, { ...mapped, isSeenHere });
  }

  private verdictText(task: Task, path: string): Promise<string | undefined> {
    const key = `${currentVerdict(task)?.tree}:${path}`;
    const known = this.verdictTexts.get(key) ?? this.readVerdictText(task, path);
    this.verdictTexts.set(key, known);
    return known;
  }

  private async readVerdictText(task: Task, path: string): Promise<string | undefined> {
    try {
      const tasks = this.deps.boards.find(task.id)?.board.core.tasks;
      const bytes = await tasks?.taskFile(task.id, 'verdict', path);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
    } catch (error) {
      this.deps.logger.warn('the file of a finding could not be read', { taskId: task.id, path, error });
      return undefined;
    }
  }

  /** Files that no editor shows change too: agents, git and other programs write them. */
  private watch(paths: readonly string[]): void {
    const wanted = new Set(paths);
    for (const [path, watcher] of this.watchers) {
      if (wanted.has(path)) continue;
      watcher.dispose();
      this.watchers.delete(path);
    }
    for (const path of wanted) {
      if (this.watchers.has(path)) continue;
      const pattern = new vscode.RelativePattern(vscode.Uri.file(dirname(path)), globOf(basename(path)));
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      watcher.onDidChange(() => this.throttle.ask());
      watcher.onDidDelete(() => this.throttle.ask());
      watcher.onDidCreate(() => this.throttle.ask());
      this.watchers.set(path, watcher);
    }
  }
}

const anyFile = {
  path: 'x',
  status: 'modified',
  oldMode: '',
  newMode: '',
  oldBlob: '',
  newBlob: '',
  isBinary: false,
  added: 0,
  removed: 0,
} as const;

/** Where the Task's own files stand. */
function placeOf(task: Task): string {
  return task.worktreePath ?? task.packet.repository.root;
}

/** The same, and the checkout it would land in. */
function rootsOf(task: Task): string[] {
  return [...new Set([placeOf(task), task.packet.repository.root])];
}

/** As an editor has it, unsaved edits included; else as the disk has it. */
async function textOf(uri: vscode.Uri): Promise<string | undefined> {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (open !== undefined) return open.getText();
  try {
    return Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('utf8');
  } catch {
    // Not there, or not readable: then there is nothing to mark in it.
    return undefined;
  }
}

const severities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
} as const;

interface DiagnosticPlace {
  readonly line: number;
  readonly endLine: number;
  /** Whether the lines are as they were judged. */
  readonly isSame: boolean;
  /** Whether the whole file is. */
  readonly isSeenHere: boolean;
}

type Seen = Pick<DiagnosticPlace, 'isSame' | 'isSeenHere'>;

function titleOf(task: Task, title: string, { isSame, isSeenHere }: Seen): string {
  if (!isSeenHere)
    return vscode.l10n.t(
      'In the change of "{0}", not in this file: {1}',
      shown(task.packet.objective, 60),
      title,
    );
  return isSame ? title : vscode.l10n.t('These lines changed since: {0}', title);
}

/** What nobody saw in this very text is no error of it. */
function severityOf(finding: Finding, { isSame, isSeenHere }: Seen): vscode.DiagnosticSeverity {
  if (!isSame) return vscode.DiagnosticSeverity.Hint;
  return isSeenHere ? severities[finding.severity] : vscode.DiagnosticSeverity.Information;
}

function diagnosticOf(
  task: Task,
  { finding, column, endColumn }: PlacedFinding,
  { line, endLine, isSame, isSeenHere }: DiagnosticPlace,
): vscode.Diagnostic {
  const range = new vscode.Range(
    line - 1,
    (column ?? 1) - 1,
    endLine - 1,
    endColumn === undefined ? Number.MAX_SAFE_INTEGER : endColumn - 1,
  );
  const body = [shown(finding.title, 300), clip(plainText(finding.detail).trim(), longestDetail)].filter(
    (part) => part !== '',
  );
  const [title = '', ...detail] = body;
  const text = [titleOf(task, title, { isSame, isSeenHere }), ...detail];
  const severity = severityOf(finding, { isSame, isSeenHere });
  const diagnostic = new vscode.Diagnostic(range, text.join('\n'), severity);
  diagnostic.source = diagnosticSource;
  const argument = encodeURIComponent(JSON.stringify([{ taskId: task.id, findingId: finding.id }]));
  const verdict = currentVerdict(task);
  diagnostic.code = {
    value: verdict === undefined ? finding.id : verdictText(verdict.verdict),
    target: vscode.Uri.parse(`command:tributary.finding.showEvidence?${argument}`),
  };
  return diagnostic;
}

function looksOf(shown: readonly ShownFinding[]): string {
  return JSON.stringify(
    shown.map(({ diagnostic, task, finding }) => [
      task.id,
      finding.id,
      diagnostic.range,
      diagnostic.message,
      diagnostic.severity,
    ]),
  );
}

/** A file's name as a glob that matches nothing else. */
function globOf(name: string): string {
  return name.replace(/[*?[\]{}]/g, '[$&]');
}
