import * as vscode from 'vscode';

/** Shows in the status bar that something is being looked at or done, while it is. */
export async function whileShown<T>(title: string, body: () => Promise<T>): Promise<T> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, body);
}
