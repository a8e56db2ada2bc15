import * as vscode from 'vscode';
import type { LandingMode } from '../../model/landing';
import { clip, plainLine, visibleText } from '../../model/plainText';
import type { AcceptOutcome, LandingPlan, LandingWish } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { shown } from '../taskWords';
import { askToSave, unsavedIn } from '../unsaved';
import type { CommandContext } from './commandContext';
import { sayConflicts } from './conflicts';
import { planText, refsText, rejectedTexts } from './landingTexts';
import type { Target } from './targets';

/** What is asked before something lands. */
export interface Asked {
  readonly wish: LandingWish;
  readonly question: string;
  readonly button: string;
}

/** Shows what would be written, and writes it when the user says so. */
export async function land(context: CommandContext, target: Target, asked: Asked): Promise<void> {
  const plan = await savedPlan(context, target, asked.wish);
  if (plan === undefined) return;
  if (plan.conflicts.length > 0) return sayConflicts(context, target, plan.conflicts);
  const rejected = await rejectedTexts(target, plan);
  const text = planText(plan, { mode: modeOf(asked.wish), rejected });
  if ((await context.dialogs.decide(asked.question, text, asked.button)) !== asked.button) return;
  await landPlan(context, target, { ...asked, plan, skipGate: false });
}

type Seen = Asked & { readonly plan: LandingPlan; readonly skipGate: boolean };

async function landPlan(context: CommandContext, target: Target, seen: Seen): Promise<void> {
  const { wish, plan, skipGate } = seen;
  const { tasks } = target.board.core;
  const outcome = await working(seen, (signal) =>
    tasks.accept(target.task.id, {
      ...wish,
      expected: plan,
      signal,
      ...(skipGate ? { skipGate: true } : {}),
    }),
  );
  await sayOutcome(context, target, { outcome, seen });
}

/** With a progress that can be cancelled while acceptance tests run; nothing is written then. */
async function working(
  { plan, skipGate, wish }: Seen,
  body: (signal: AbortSignal) => Promise<AcceptOutcome>,
): Promise<AcceptOutcome> {
  const isTested = plan.gate === 'due' && !skipGate;
  const isCommitted = modeOf(wish) !== 'apply' && modeOf(wish) !== 'keepBranch';
  const stop = new AbortController();
  if (!isTested && !isCommitted) return body(stop.signal);
  const commands = plan.task.packet.acceptanceTests.map(({ command }) => shown(command)).join(', ');
  const title = isTested
    ? vscode.l10n.t('Testing what would land: {0}', commands)
    : vscode.l10n.t('Committing what lands; your hooks may take a while');
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: isTested }, async (_progress, token) => {
    const listening = token.onCancellationRequested(() => stop.abort());
    try {
      return await body(stop.signal);
    } finally {
      listening.dispose();
    }
  });
}

function modeOf({ mode = 'apply' }: LandingWish): LandingMode {
  return mode;
}

/** The plan once no editor holds unsaved text of it or of the Worktree; `undefined`: the user left it so. */
async function savedPlan(
  { dialogs }: CommandContext,
  { board, task }: Target,
  wish: LandingWish,
): Promise<LandingPlan | undefined> {
  const { tasks } = board.core;
  const plan = await tasks.preview(task.id, wish);
  const paths = [...plan.paths, ...plan.conflicts].map(({ path }) => path);
  const { worktreePath, packet } = task;
  const unsaved = await unsavedIn([
    { folder: packet.repository.root, paths },
    ...(worktreePath === undefined ? [] : [{ folder: worktreePath }]),
  ]);
  if (unsaved.length === 0) return plan;
  const question = vscode.l10n.t('Files of this change have unsaved edits. Save them first?');
  return (await askToSave(unsaved, question, dialogs)) ? tasks.preview(task.id, wish) : undefined;
}

async function sayOutcome(
  context: CommandContext,
  target: Target,
  { outcome, seen }: { readonly outcome: AcceptOutcome; readonly seen: Seen },
): Promise<void> {
  switch (outcome.kind) {
    case 'landed':
      return sayLanded(context, target, outcome);
    case 'kept': {
      const branch = plainLine(outcome.ref.replace(/^refs\/heads\//, ''));
      await context.dialogs.say(
        'info',
        vscode.l10n.t(
          'Kept the branch {0}; your checkout is as it was. Restore brings the Task back.',
          branch,
        ),
      );
      return;
    }
    case 'gateFailed':
      return sayGate(context, target, { outcome, seen });
    case 'hookFailed':
      return sayHook(context, outcome);
    case 'conflict':
      return sayConflicts(context, target, outcome.conflicts);
    case 'stale':
      return sayStale(context, target, { outcome, seen });
  }
}

function sayLanded(
  context: CommandContext,
  target: Target,
  { task, paths, commit, ref }: Extract<AcceptOutcome, { kind: 'landed' }>,
): void {
  const undo = vscode.l10n.t('Undo');
  const name = nameOf(target);
  const isPart = task.state === 'open';
  const written =
    paths.length === 1 ? vscode.l10n.t('1 file written') : vscode.l10n.t('{0} files written', paths.length);
  const made =
    commit === undefined ? '' : vscode.l10n.t(', {0} committed on {1}', commit.slice(0, 12), refsText(ref));
  const message = isPart
    ? vscode.l10n.t('Landed a part of "{0}": {1}.', name, `${written}${made}`)
    : vscode.l10n.t('Accepted "{0}": {1}.', name, `${written}${made}`);
  // Not awaited: a notification may stand for long.
  void context.dialogs.say('info', message, undo).then((chosen) => {
    if (chosen === undo) void undoLanded(context, target, { landings: task.landings.length });
  });
}

/** From the notification, which stands on while other ways to undo are taken, and other parts land: it says so then. */
async function undoLanded(
  { boards, dialogs }: CommandContext,
  target: Target,
  { landings }: { readonly landings: number },
): Promise<void> {
  const { id } = target.task;
  const now = boards.find(id)?.task.landings;
  if (now?.length === landings && now.at(-1)?.undoneAt === undefined) {
    await vscode.commands.executeCommand('tributary.task.undo', { taskId: id });
    return;
  }
  await dialogs.say('info', vscode.l10n.t('"{0}" was undone already; nothing was changed.', nameOf(target)));
}

async function sayGate(
  context: CommandContext,
  target: Target,
  {
    outcome,
    seen,
  }: { readonly outcome: Extract<AcceptOutcome, { kind: 'gateFailed' }>; readonly seen: Seen },
): Promise<void> {
  const anyway = vscode.l10n.t('Land Anyway');
  const { command, exitCode, output } = outcome;
  const question = vscode.l10n.t('Nothing was written: {0}', failureText(command, exitCode));
  const chosen = await sayOutput(context, { question, output }, anyway);
  if (chosen === anyway) await landPlan(context, target, { ...seen, skipGate: true });
}

async function sayHook(
  context: CommandContext,
  { hook, exitCode, output }: Extract<AcceptOutcome, { kind: 'hookFailed' }>,
): Promise<void> {
  const question = vscode.l10n.t(
    'Nothing was written: {0}',
    failureText(vscode.l10n.t('your {0} hook', hook), exitCode),
  );
  await sayOutput(context, { question, output });
}

function failureText(what: string, exitCode: number | null): string {
  return exitCode === null
    ? vscode.l10n.t('{0} did not end by itself', shown(what, 200))
    : vscode.l10n.t('{0} ended with exit code {1}', shown(what, 200), exitCode);
}

const tailLines = 15;
const tailLength = 1_500;

/** The end of the output in the question, all of it in the log. */
async function sayOutput(
  { dialogs, log }: CommandContext,
  { question, output }: { readonly question: string; readonly output: string },
  ...more: readonly string[]
): Promise<string | undefined> {
  log.warn(question, { output });
  const showLog = vscode.l10n.t('Show Output');
  const lines = visibleText(output).trimEnd().split('\n').slice(-tailLines);
  const tail = lines
    .map((line) => clip(line, 300))
    .join('\n')
    .slice(-tailLength);
  const detail = tail === '' ? vscode.l10n.t('It printed nothing.') : tail;
  const chosen = await dialogs.decide(question, detail, ...more, showLog);
  if (chosen === showLog) log.show();
  return chosen;
}

function sayStale(
  context: CommandContext,
  target: Target,
  { outcome, seen }: { readonly outcome: Extract<AcceptOutcome, { kind: 'stale' }>; readonly seen: Seen },
): void {
  const again = vscode.l10n.t('Look Again');
  // Not awaited: a notification may stand for long.
  void context.dialogs.say('warning', staleText(target, outcome), again).then((chosen) => {
    if (chosen !== again) return;
    land(context, target, seen).catch((error: unknown) =>
      context.announcer.failed('accept', error, target.task.id),
    );
  });
}

function staleText(
  target: Target,
  { paths, isHeadMoved }: Extract<AcceptOutcome, { kind: 'stale' }>,
): string {
  if (paths.length > 0)
    return vscode.l10n.t(
      'Nothing was written: files changed after they were looked at: {0}.',
      paths.map(visibleName).join(', '),
    );
  return isHeadMoved === true
    ? vscode.l10n.t('Nothing was written: the branch moved after it was looked at.')
    : vscode.l10n.t('Nothing was written: "{0}" changed after it was looked at.', nameOf(target));
}

function nameOf({ task }: Target): string {
  return shown(task.packet.objective, 60);
}
