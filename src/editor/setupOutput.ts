import * as vscode from 'vscode';
import { DisposableStack } from '../base/disposable';
import { taskIdSchema } from '../model/ids';
import { visibleText } from '../model/plainText';
import type { SetupCommand, SetupRecord } from '../model/setup';
import type { Task } from '../model/task';
import type { Boards } from './boards';
import { visibleName } from './plainWords';
import { setupEndText, shown } from './taskWords';
import { Throttle } from './throttle';

/** What the set-up of a Task's Worktree printed, as a page that is read like any file. */
export const setupScheme = 'tributary-setup';

const refreshMs = 250;

/** Whether there is anything of a set-up to show. */
export function hasSetup({ setup }: Task): boolean {
  if (setup === undefined) return false;
  return setup.current !== undefined || setup.commands.length + (setup.teardown?.length ?? 0) > 0;
}

/** Whether the Task stands because its set-up failed. */
export function isSetupFailed({ runs }: Task): boolean {
  const status = runs.at(-1)?.status;
  return status?.state === 'failed' && status.end.reason === 'setup';
}

export function setupUri({ id, packet }: Task): vscode.Uri {
  const name = vscode.l10n.t('Set-up: {0}', shown(packet.objective, 40));
  // The editor shows what stands behind the last slash as the name of the tab.
  const path = `/${visibleName(name).replaceAll('/', '∕')}`;
  return vscode.Uri.from({ scheme: setupScheme, path, query: id });
}

/** Answers the text of such pages, and writes them anew while a set-up goes on. */
export class SetupOutput implements vscode.TextDocumentContentProvider {
  readonly onDidChange: vscode.Event<vscode.Uri>;
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly boards: Pick<Boards, 'find' | 'onDidChange'>;
  private readonly subscriptions = new DisposableStack();
  private readonly throttle = new Throttle(refreshMs, () => this.renew());

  constructor(boards: Pick<Boards, 'find' | 'onDidChange'>) {
    this.boards = boards;
    this.onDidChange = this.changed.event;
    this.subscriptions.add(boards.onDidChange(() => this.throttle.ask()));
    this.subscriptions.add(vscode.workspace.onDidChangeTextDocument(({ document }) => followEnd(document)));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.textOf(uri) ?? vscode.l10n.t('That Task is not in this window any more.');
  }

  dispose(): void {
    this.throttle.dispose();
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  private renew(): void {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme !== setupScheme) continue;
      const text = this.textOf(document.uri);
      if (text !== undefined && text !== document.getText()) this.changed.fire(document.uri);
    }
  }

  /** `undefined`: its Task is not here now. */
  private textOf({ query }: vscode.Uri): string | undefined {
    const taskId = taskIdSchema.safeParse(query);
    const task = taskId.success ? this.boards.find(taskId.data)?.task : undefined;
    return task === undefined ? undefined : setupText(task);
  }
}

/** Where such a page grows, whoever looks at it sees its end. */
function followEnd(document: vscode.TextDocument): void {
  if (document.uri.scheme !== setupScheme) return;
  for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) showEnd(editor);
}

/** What went wrong is said last. */
export function showEnd(editor: vscode.TextEditor): void {
  const { document } = editor;
  const { end } = document.lineAt(document.lineCount - 1).range;
  editor.selection = new vscode.Selection(end, end);
  editor.revealRange(new vscode.Range(end, end));
}

/** How it stands, then each command with its end and the last of what it printed. */
function setupText(task: Task): string {
  const { setup } = task;
  if (setup === undefined) return vscode.l10n.t('Nothing was set up yet.');
  return [
    headOf(setup),
    ...setup.commands.map(commandText),
    ...(setup.current === undefined
      ? []
      : [`$ ${visibleText(setup.current)}\n${vscode.l10n.t('It is running.')}`]),
    ...(setup.teardown === undefined || setup.teardown.length === 0
      ? []
      : [vscode.l10n.t('Before the worktree went:'), ...setup.teardown.map(commandText)]),
    '',
  ].join('\n\n');
}

function headOf({ state }: SetupRecord): string {
  switch (state) {
    case 'running':
      return vscode.l10n.t('The worktree is being set up.');
    case 'done':
      return vscode.l10n.t('The worktree is set up.');
    case 'failed':
      return vscode.l10n.t('The set-up failed, so the agent did not start.');
    case 'due':
      return vscode.l10n.t('The next Run sets the worktree up anew.');
  }
}

function commandText(done: SetupCommand): string {
  const said = visibleText(done.output).trimEnd();
  return [
    `$ ${visibleText(done.command)}`,
    said === '' ? vscode.l10n.t('It printed nothing.') : said,
    setupEndText(done),
  ].join('\n');
}
