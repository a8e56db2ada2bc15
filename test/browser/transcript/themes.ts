import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

export const themeNames = ['light', 'dark', 'hc-black', 'hc-light'] as const;
export type ThemeName = (typeof themeNames)[number];

const themesSchema = z.record(z.enum(themeNames), z.record(z.string(), z.string()));

/** The colours and fonts the editor gives a page, as taken from a real one, and the rules it puts before ours. */
export async function themeVariables(theme: ThemeName): Promise<string> {
  const path = join(process.env['TRIBUTARY_ROOT'] ?? '', 'test', 'fixtures', 'themes.json');
  const variables = themesSchema.parse(JSON.parse(await readFile(path, 'utf8')))[theme];
  const lines = Object.entries(variables).map(([name, value]) => `${name}: ${value};`);
  return `:root { ${lines.join(' ')} }
@layer vscode-default {
  body { background-color: transparent; color: var(--vscode-editor-foreground); padding: 0 20px; }
  a, a code { color: var(--vscode-textLink-foreground); }
  code { color: var(--vscode-textPreformat-foreground); background-color: var(--vscode-textPreformat-background);
    padding: 1px 3px; border-radius: 4px; }
  pre code { padding: 0; }
}`;
}
