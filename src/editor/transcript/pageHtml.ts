import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { RunId, TaskId } from '../../model/ids';

export interface PageOptions {
  readonly extensionUri: vscode.Uri;
  readonly taskId: TaskId;
  readonly runId: RunId | undefined;
}

/** What a page may load: our own script and style sheet, nothing else. The only place that says so. */
export function pageRules(extensionUri: vscode.Uri): vscode.WebviewOptions {
  return {
    enableScripts: true,
    enableForms: false,
    enableCommandUris: false,
    localResourceRoots: [
      vscode.Uri.joinPath(extensionUri, 'dist', 'webview'),
      vscode.Uri.joinPath(extensionUri, 'media'),
    ],
  };
}

/** The page without any content: that comes by messages. */
export function pageHtml(webview: vscode.Webview, { extensionUri, taskId, runId }: PageOptions): string {
  const nonce = randomBytes(16).toString('base64url');
  const file = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', 'webview', name)).toString();
  const rules = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const words = vscode.l10n.bundle === undefined ? '' : JSON.stringify(vscode.l10n.bundle);
  return `<!DOCTYPE html>
<html lang="${attribute(vscode.env.language)}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${attribute(rules)}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Tributary</title>
  <link rel="stylesheet" href="${attribute(file('transcript.css'))}">
</head>
<body>
  <div id="root" data-task="${attribute(taskId)}" data-run="${attribute(runId ?? '')}" data-l10n="${attribute(words)}"></div>
  <script nonce="${nonce}" src="${attribute(file('transcript.js'))}"></script>
</body>
</html>`;
}

function attribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
