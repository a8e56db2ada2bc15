import * as vscode from 'vscode';
import * as z from 'zod';
import { plainLine } from '../../model/plainText';
import type { BaseChoice } from '../../tasks/taskApi';
import type { Reply } from '../dialogs';
import type { LiveBoard } from '../liveBoard';
import { shown } from '../taskWords';
import { agreedSetup } from './agreedSetup';
import type { Command, CommandContext } from './commandContext';
import { boardOf } from './targets';

/** What a caller may give beforehand; what is missing is asked for. */
const givenSchema = z.looseObject({
  objective: z.string().optional(),
  agent: z.string().optional(),
  base: z.string().optional(),
  withUncommitted: z.boolean().optional(),
  checks: z.array(z.string()).optional(),
});

interface Draft {
  objective: string;
  agent: string;
  base: string;
  withUncommitted: boolean;
  checks: readonly string[];
}

/** Asks objective, agent, base and checks, one after another, and starts. */
export const newTask: Command = {
  id: 'tributary.task.new',
  async run(context, argument) {
    const title = vscode.l10n.t('New Task');
    const board = await boardOf(context, title, argument);
    if (board === undefined) return;
    const draft = await asked(context, board, argument);
    if (draft === undefined) return;
    const setup = await agreedSetup(context, board);
    if (setup === undefined) return;
    const { tasks } = board.core;
    const packet = await tasks.prepare({
      objective: draft.objective,
      base: draft.base,
      withUncommitted: draft.withUncommitted,
      checks: draft.checks,
      setup,
    });
    const { task, settled } = await tasks.start({ packet, agent: draft.agent });
    await context.memory.update(checksKey(board), draft.checks);
    void context.announcer.follow(task, settled);
    await vscode.commands.executeCommand('tributary.tasks.focus');
  },
};

async function asked(
  context: CommandContext,
  board: LiveBoard,
  argument: unknown,
): Promise<Draft | undefined> {
  const given = givenOf(argument);
  const [bases, suggested] = await Promise.all([
    board.core.tasks.bases(),
    context.suggestion(board.core.repository.root),
  ]);
  const draft: Draft = {
    objective: given.objective ?? (selectedText() || (suggested?.objective ?? '')),
    agent: given.agent ?? 'general',
    base: given.base ?? 'HEAD',
    withUncommitted: given.withUncommitted ?? false,
    checks: given.checks ?? rememberedChecks(context, board) ?? suggested?.checks ?? [],
  };
  const questions = [
    ...(given.objective === undefined ? [askObjective] : []),
    ...(given.agent === undefined ? [pickAgent] : []),
    ...(given.base === undefined && given.withUncommitted === undefined ? [pickBase] : []),
    ...(given.checks === undefined ? [askChecks] : []),
  ];
  let at = 0;
  for (let ask = questions[at]; ask !== undefined; ask = questions[at]) {
    const step = { number: at + 1, of: questions.length };
    const reply = await ask({ context, draft, bases, step });
    if (reply === 'left') return undefined;
    at += reply === 'back' ? -1 : 1;
  }
  return draft;
}

interface Asking {
  readonly context: CommandContext;
  readonly draft: Draft;
  readonly bases: readonly BaseChoice[];
  readonly step: { readonly number: number; readonly of: number };
}

type Answered = 'given' | 'back' | 'left';

function taken<T>(reply: Reply<T>, take: (value: T) => void): Answered {
  if (reply.kind === 'given') take(reply.value);
  return reply.kind;
}

async function askObjective({ context, draft, step }: Asking): Promise<Answered> {
  const reply = await context.dialogs.ask({
    title: vscode.l10n.t('New Task: objective'),
    prompt: vscode.l10n.t('What do you want done? The agent works in a worktree of its own.'),
    placeHolder: vscode.l10n.t('Fix the parser so that 1h30m is 5400 seconds'),
    value: draft.objective,
    step,
    problemOf: (text) =>
      text.trim() === '' ? vscode.l10n.t('Say in a sentence what you want done.') : undefined,
  });
  return taken(reply, (text) => {
    draft.objective = text.trim();
  });
}

async function pickAgent({ context, draft, step }: Asking): Promise<Answered> {
  const items = [
    {
      label: 'general',
      description: vscode.l10n.t('default'),
      detail: vscode.l10n.t('Changes files and runs commands, in a worktree of its own'),
    },
    {
      label: 'explore',
      description: vscode.l10n.t('reads only'),
      detail: vscode.l10n.t('Answers a question about the code; changes nothing'),
    },
  ];
  const reply = await context.dialogs.pick({
    title: vscode.l10n.t('New Task: agent'),
    placeHolder: vscode.l10n.t('Who does it?'),
    items,
    step,
  });
  return taken(reply, ({ label }) => {
    draft.agent = label;
  });
}

async function pickBase({ context, draft, bases, step }: Asking): Promise<Answered> {
  const reply = await context.dialogs.pick({
    title: vscode.l10n.t('New Task: base'),
    placeHolder: vscode.l10n.t('What does it start from?'),
    items: bases.map(baseItem),
    step,
  });
  return taken(reply, ({ base }) => {
    draft.base = base.ref;
    draft.withUncommitted = base.kind === 'uncommitted';
  });
}

async function askChecks({ context, draft, step }: Asking): Promise<Answered> {
  const reply = await context.dialogs.ask({
    title: vscode.l10n.t('New Task: checks'),
    prompt: vscode.l10n.t(
      'Commands that must succeed, separated by ";;". They run in the worktree without asking. Empty: none.',
    ),
    placeHolder: 'npm test',
    value: draft.checks.join(' ;; '),
    step,
  });
  return taken(reply, (text) => {
    draft.checks = checksOf(text);
  });
}

function baseItem(base: BaseChoice): vscode.QuickPickItem & { readonly base: BaseChoice } {
  const icons = {
    head: 'git-commit',
    uncommitted: 'edit',
    branch: 'git-branch',
    remote: 'cloud',
    tag: 'tag',
  } as const;
  const name = base.ref.replace(/^refs\/(?:heads|remotes|tags)\//, '');
  const label = base.kind === 'uncommitted' ? vscode.l10n.t('{0} with my uncommitted changes', name) : name;
  const on = base.branch === undefined ? '' : ` · ${base.branch}`;
  return {
    base,
    label: plainLine(label),
    iconPath: new vscode.ThemeIcon(icons[base.kind]),
    description: plainLine(`${base.commit.slice(0, 10)}${on}`),
    detail: base.files === undefined ? shown(base.subject, 200) : filesText(base.files),
  };
}

function filesText(files: number): string {
  return files === 1
    ? vscode.l10n.t('1 file: staged, unstaged or untracked')
    : vscode.l10n.t('{0} files: staged, unstaged or untracked', files);
}

/** One command after another; a command may hold `;` and `&&` itself, so the mark is doubled. */
export function checksOf(text: string): string[] {
  return text
    .split(';;')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function givenOf(argument: unknown): z.infer<typeof givenSchema> {
  const parsed = givenSchema.safeParse(argument);
  return parsed.success ? parsed.data : {};
}

function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? '' : editor.document.getText(editor.selection).replace(/\s+/g, ' ').trim();
}

function checksKey(board: LiveBoard): string {
  return `checks:${board.id}`;
}

function rememberedChecks(context: CommandContext, board: LiveBoard): readonly string[] | undefined {
  const parsed = z.array(z.string()).safeParse(context.memory.get(checksKey(board)));
  return parsed.success ? parsed.data : undefined;
}
