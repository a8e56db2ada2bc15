import * as vscode from 'vscode';
import * as z from 'zod';
import type { SetupPlan } from '../model/setup';
import { settingsFrom } from './settingsFrom';

/** How new worktrees of one repository are made ready, as the settings say. */
export interface SetupSettings {
  readonly plan: Partial<SetupPlan>;
  /** Whether some of its commands come from the workspace, that is from the repository, and not from the user. */
  readonly isFromWorkspace: boolean;
  readonly problems: readonly string[];
}

const patternsSchema = z.array(z.string().min(1));
const commandSettings = ['worktrees.setup', 'worktrees.teardown'] as const;

/** `tributary.worktrees.*` and the editor's own `git.worktreeIncludeFiles`, as they count for a folder. */
export function setupSettings(folder: vscode.Uri): SetupSettings {
  const own = vscode.workspace.getConfiguration('tributary', folder);
  const { settings, problems } = settingsFrom({ worktrees: own.get('worktrees') });
  const { setup, teardown, link, clone } = settings.worktrees;
  const include = patternsSchema.safeParse(
    vscode.workspace.getConfiguration('git', folder).get('worktreeIncludeFiles'),
  );
  const isFromWorkspace = commandSettings.some((name) => {
    const said = own.inspect(name);
    return said?.workspaceValue !== undefined || said?.workspaceFolderValue !== undefined;
  });
  const plan = { commands: setup, teardown, link, clone, include: include.success ? include.data : [] };
  return { plan, isFromWorkspace, problems };
}
