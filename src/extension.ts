import * as vscode from 'vscode';
import { type Composed, compose, type Parts } from './compose';

/** The editor waits about five seconds for `deactivate`; Runs are to be recorded as interrupted by then. */
const limitMs = 4_000;

let composed: Composed | undefined;

/** A test inside the editor gets the parts; nobody else does. */
export function activate(context: vscode.ExtensionContext): Parts | undefined {
  composed = compose(context);
  return context.extensionMode === vscode.ExtensionMode.Test ? composed.parts : undefined;
}

export async function deactivate(): Promise<void> {
  const ending = composed?.dispose();
  composed = undefined;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([ending, limit]);
  clearTimeout(timer);
}
