import * as vscode from 'vscode';
import { withoutIcons, withoutLinks } from './plainWords';

/** How loud a message is. */
export type Tone = 'info' | 'warning' | 'error';

export interface TextQuestion {
  readonly title: string;
  readonly prompt: string;
  readonly value?: string;
  readonly placeHolder?: string;
  readonly isPassword?: boolean;
  readonly step?: Step;
  /** A sentence when the text cannot be taken. */
  readonly problemOf?: (text: string) => string | undefined;
}

export interface PickQuestion<T extends vscode.QuickPickItem> {
  readonly title: string;
  readonly placeHolder: string;
  readonly items: readonly T[];
  readonly step?: Step;
}

/** Where a question stands among those of one command. */
export interface Step {
  readonly number: number;
  readonly of: number;
}

/** `back`: the user wants the question before. */
export type Reply<T> = { readonly kind: 'given'; readonly value: T } | { readonly kind: 'back' | 'left' };

/** Everything the extension asks and says; a test of the editor answers in the user's place. */
export interface Dialogs {
  /** A notification; answers the action that was chosen. */
  say(tone: Tone, message: string, ...actions: readonly string[]): Promise<string | undefined>;
  /** A modal question; answers the action that was chosen, `undefined` when cancelled. */
  decide(message: string, detail: string, ...actions: readonly string[]): Promise<string | undefined>;
  ask(question: TextQuestion): Promise<Reply<string>>;
  pick<T extends vscode.QuickPickItem>(question: PickQuestion<T>): Promise<Reply<T>>;
  /** The same for any number of them; those with `picked` are chosen to begin with. */
  pickMany<T extends vscode.QuickPickItem>(question: PickQuestion<T>): Promise<Reply<readonly T[]>>;
}

/** The editor's own. */
export const windowDialogs: Dialogs = {
  async say(tone, text, ...actions) {
    const message = withoutLinks(text);
    switch (tone) {
      case 'info':
        return vscode.window.showInformationMessage(message, ...actions);
      case 'warning':
        return vscode.window.showWarningMessage(message, ...actions);
      case 'error':
        return vscode.window.showErrorMessage(message, ...actions);
    }
  },
  async decide(message, detail, ...actions) {
    return vscode.window.showWarningMessage(message, { modal: true, detail }, ...actions);
  },
  ask(question) {
    const input = vscode.window.createInputBox();
    input.prompt = question.prompt;
    input.value = question.value ?? '';
    input.password = question.isPassword ?? false;
    if (question.placeHolder !== undefined) input.placeholder = question.placeHolder;
    input.onDidChangeValue(() => {
      input.validationMessage = undefined;
    });
    return shown(input, question, () => {
      const problem = question.problemOf?.(input.value);
      input.validationMessage = problem;
      return problem === undefined ? input.value : undefined;
    });
  },
  pick(question) {
    const pick = vscode.window.createQuickPick<Shown<(typeof question.items)[number]>>();
    pick.items = question.items.map(shownItem);
    pick.placeholder = question.placeHolder;
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    return shown(pick, question, () => pick.selectedItems[0]?.item);
  },
  pickMany(question) {
    const pick = vscode.window.createQuickPick<Shown<(typeof question.items)[number]>>();
    pick.canSelectMany = true;
    pick.items = question.items.map(shownItem);
    pick.selectedItems = pick.items.filter(({ item }) => item.picked === true);
    pick.placeholder = question.placeHolder;
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    return shown(pick, question, () => pick.selectedItems.map(({ item }) => item));
  },
};

/** A choice as it is drawn, and the one it stands for. */
interface Shown<T> extends vscode.QuickPickItem {
  readonly item: T;
}

/** An icon comes by `iconPath` only: the texts may hold anything. */
function shownItem<T extends vscode.QuickPickItem>(item: T): Shown<T> {
  const { label, description, detail, iconPath } = item;
  return {
    item,
    label: withoutIcons(label),
    ...(description === undefined ? {} : { description: withoutIcons(description) }),
    ...(detail === undefined ? {} : { detail: withoutIcons(detail) }),
    ...(iconPath === undefined ? {} : { iconPath }),
  };
}

type AskInput = vscode.QuickInput & {
  buttons: readonly vscode.QuickInputButton[];
  readonly onDidAccept: vscode.Event<void>;
  readonly onDidTriggerButton: vscode.Event<vscode.QuickInputButton>;
};

/** Shows it until it is answered or left. `take` answers `undefined` while it cannot be taken. */
function shown<T>(
  input: AskInput,
  { title, step }: { readonly title: string; readonly step?: Step },
  take: () => T | undefined,
): Promise<Reply<T>> {
  input.title = title;
  input.ignoreFocusOut = true;
  if (step !== undefined) {
    input.step = step.number;
    input.totalSteps = step.of;
    if (step.number > 1) input.buttons = [vscode.QuickInputButtons.Back];
  }
  return new Promise((resolve) => {
    const end = (reply: Reply<T>): void => {
      resolve(reply);
      input.dispose();
    };
    input.onDidAccept(() => {
      const value = take();
      if (value !== undefined) end({ kind: 'given', value });
    });
    input.onDidTriggerButton((button) => {
      if (button === vscode.QuickInputButtons.Back) end({ kind: 'back' });
    });
    input.onDidHide(() => end({ kind: 'left' }));
    input.show();
  });
}
