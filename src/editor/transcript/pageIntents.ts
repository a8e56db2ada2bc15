import { join } from 'node:path';
import * as vscode from 'vscode';
import type { RunId, TaskId } from '../../model/ids';
import { plainLine } from '../../model/plainText';
import type { Task } from '../../model/task';
import type { HostHandlers } from '../../protocol/define';
import type { TranscriptApi } from '../../protocol/transcriptApi';
import type { Announcer } from '../announcer';
import type { LiveBoard } from '../liveBoard';
import type { PermissionInbox } from '../permissionInbox';
import { withoutLinks } from '../plainWords';
import { transcriptMarkdown } from './exportMarkdown';
import { contains, placeOf } from './places';

/** What of the host's side is the same whatever the page shows at the moment. */
export type Intents = Omit<
  HostHandlers<TranscriptApi>,
  'wantSnapshot' | 'earlier' | 'wholeEntry' | 'find' | 'showRun' | 'openOutput'
>;

export interface IntentsDeps {
  readonly taskId: TaskId;
  /** The Task and its board now; `undefined` when they are not in this window. */
  readonly find: () => { readonly board: LiveBoard; readonly task: Task } | undefined;
  readonly inbox: PermissionInbox;
  readonly announcer: Pick<Announcer, 'follow' | 'failed'>;
  /** A message from this page starts a Run of the Task: it is shown once it is there. */
  readonly onSent: () => void;
}

/** What a user does on the page: each intent is a command of the extension or one call of the front door. */
export function pageIntents(deps: IntentsDeps): Intents {
  const { taskId, announcer } = deps;
  /** A failure is told to the user here, once. */
  const attempt = async (what: string, action: () => Promise<unknown>): Promise<boolean> => {
    try {
      await action();
      return true;
    } catch (error) {
      // Not waited for: the notification may stand for long, and the page must know now that its text was not taken.
      void announcer.failed(what, error, taskId);
      return false;
    }
  };
  const run = (command: string, argument: object): void => {
    void attempt(command, async () => vscode.commands.executeCommand(command, { taskId, ...argument }));
  };
  return {
    sendMessage: ({ text }) =>
      attempt('sendMessage', async () => {
        const { board } = known(deps);
        const { task, settled } = await board.core.tasks.followUp(taskId, text);
        void announcer.follow(task, settled);
        if (task.id === taskId) deps.onSent();
        // The Task was over: its message began another.
        else run('tributary.task.openTranscript', { taskId: task.id });
      }),
    answer({ questionId, isAllowed }) {
      // Only a question of this Task: the page names it, and the page is not believed.
      const question = deps.inbox.pending.find(({ id }) => id === questionId);
      if (question?.taskId === taskId) deps.inbox.answer(questionId, isAllowed);
    },
    allowAll({ questionId }) {
      const question = deps.inbox.pending.find(({ id }) => id === questionId);
      if (question?.taskId === taskId) run('tributary.consent.allowCommands', {});
    },
    stop: ({ runId }) => run('tributary.task.stop', { runId }),
    verify() {
      deps.onSent();
      run('tributary.task.verify', {});
    },
    resume() {
      deps.onSent();
      run('tributary.task.resume', {});
    },
    fix({ findingId }) {
      deps.onSent();
      if (findingId === undefined) run('tributary.task.fix', {});
      else run('tributary.finding.fix', { findingId });
    },
    openReview: () => run('tributary.task.review', {}),
    openFile: (place) => void attempt('openFile', () => openFile(known(deps).task, place)),
    copy: ({ text }) => void attempt('copy', async () => vscode.env.clipboard.writeText(text)),
    exportAs: ({ runId, format }) => void attempt('export', () => exportAs(known(deps), runId, format)),
  };
}

function known(deps: IntentsDeps): { readonly board: LiveBoard; readonly task: Task } {
  const found = deps.find();
  if (found === undefined) throw new Error(vscode.l10n.t('That Task is not in this window any more.'));
  return found;
}

async function openFile(
  task: Task,
  { path, line, endLine }: { path: string; line?: number | undefined; endLine?: number | undefined },
): Promise<void> {
  const place = await placeOf(task, path);
  const name = withoutLinks(plainLine(path).slice(0, 200));
  if (place.kind === 'outside') {
    await vscode.window.showWarningMessage(
      vscode.l10n.t('Not opened: "{0}" is neither in the worktree of this Task nor in the checkout.', name),
    );
  } else if (place.kind === 'absent') {
    await vscode.window.showInformationMessage(vscode.l10n.t('There is no file "{0}" any more.', name));
  } else {
    await showLines(place.path, line, endLine);
  }
}

async function showLines(path: string, line?: number, endLine?: number): Promise<void> {
  const selection =
    line === undefined
      ? {}
      : {
          selection: new vscode.Range(
            line - 1,
            0,
            Math.max(line, endLine ?? line) - 1,
            Number.MAX_SAFE_INTEGER,
          ),
        };
  // `open` also shows what is no text, such as a picture.
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(path), {
    preview: true,
    viewColumn: vscode.ViewColumn.Active,
    ...selection,
  });
}

/** The whole output of a command, where it lies among the outputs of this very Run. */
export async function openOutput(board: LiveBoard, task: Task, runId: RunId, path: string): Promise<void> {
  const folder = join(board.id, 'tributary', 'tasks', task.id, 'runs', `${runId}.out`);
  if (!contains(folder, path)) throw new Error(`not an output of this run: ${path}`);
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(path), { preview: true });
}

async function exportAs(
  { board, task }: { readonly board: LiveBoard; readonly task: Task },
  runId: RunId,
  format: 'markdown' | 'json',
): Promise<void> {
  const run = task.runs.find(({ id }) => id === runId);
  if (run === undefined) return;
  const extension = format === 'markdown' ? 'md' : 'json';
  const name = `${task.slug}-${run.kind}-${run.id}.${extension}`;
  const target = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export Transcript'),
    defaultUri: vscode.Uri.file(join(task.packet.repository.root, name)),
    filters: format === 'markdown' ? { Markdown: ['md'] } : { JSON: ['json'] },
  });
  if (target === undefined) return;
  const transcript = await board.core.tasks.transcript(task.id, runId);
  const text =
    format === 'markdown'
      ? transcriptMarkdown(task, run, transcript)
      : `${JSON.stringify(transcript, undefined, 2)}\n`;
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  const open = vscode.l10n.t('Open');
  const said = await vscode.window.showInformationMessage(
    vscode.l10n.t(
      'The transcript was exported to {0}.',
      withoutLinks(vscode.workspace.asRelativePath(target)),
    ),
    open,
  );
  if (said === open) await vscode.commands.executeCommand('vscode.open', target);
}
