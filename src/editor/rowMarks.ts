import * as vscode from 'vscode';
import * as z from 'zod';

/** What stands at the end of a row, also where there is no room for words. */
export interface RowMark {
  /** One or two letters. */
  readonly badge: string;
  readonly tooltip: string;
  readonly colour: string;
}

/** Of addresses that name nothing but how a row is marked. */
const scheme = 'tributary-row';
const markSchema = z.object({ badge: z.string(), tooltip: z.string(), colour: z.string() });

/** The address that brings the mark to a row; it names the row too, since the editor takes it for a file. */
export function markUri(key: string, mark: RowMark): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${key}`, query: JSON.stringify(mark) });
}

/** Draws the marks: what there is to know of one stands in its address. */
export class RowMarks implements vscode.FileDecorationProvider {
  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== scheme) return undefined;
    const { badge, tooltip, colour } = markSchema.parse(JSON.parse(uri.query));
    return new vscode.FileDecoration(badge, tooltip, new vscode.ThemeColor(colour));
  }
}
