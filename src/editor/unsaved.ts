import { realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import * as vscode from 'vscode';
import { plainLine } from '../model/plainText';
import type { Dialogs } from './dialogs';

/** An open file, or notebook, with edits that are not on disk. */
export type Unsaved = Pick<vscode.TextDocument, 'uri' | 'save'>;

/** Which files are asked about: these of a folder, or all below it. */
export interface Place {
  readonly folder: string;
  /** With `/`, relative to the folder; absent: everything. */
  readonly paths?: readonly string[];
}

/** Open files with unsaved edits in one of `places`, by real paths: a folder may be open by a link. */
export async function unsavedIn(places: readonly Place[]): Promise<readonly Unsaved[]> {
  const wanted = await Promise.all(places.map(testOf));
  const { textDocuments, notebookDocuments } = vscode.workspace;
  const dirty = [...textDocuments, ...notebookDocuments].filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file',
  );
  const found = await Promise.all(
    dirty.map(async (document) => {
      const names = await namesOf(document.uri.fsPath);
      return names.some((name) => wanted.some((isWanted) => isWanted(name)));
    }),
  );
  return dirty.filter((_, index) => found[index] === true);
}

export function unsavedText(unsaved: readonly Unsaved[]): string {
  return unsaved.map(({ uri }) => plainLine(uri.fsPath)).join('\n');
}

/** Saves them all; one that cannot be saved is said, and then the answer is false. */
export async function saveAll(unsaved: readonly Unsaved[], dialogs: Dialogs): Promise<boolean> {
  for (const document of unsaved) {
    if (await document.save()) continue;
    const name = plainLine(document.uri.fsPath);
    await dialogs.say('warning', vscode.l10n.t('{0} could not be saved, so nothing was done.', name));
    return false;
  }
  return true;
}

/** Asks to save them and does. `false`: the user left it so, or one could not be saved. */
export async function askToSave(
  unsaved: readonly Unsaved[],
  question: string,
  dialogs: Dialogs,
): Promise<boolean> {
  const save = vscode.l10n.t('Save and Continue');
  const chosen = await dialogs.decide(question, unsavedText(unsaved), save);
  return chosen === save && saveAll(unsaved, dialogs);
}

async function testOf({ folder, paths }: Place): Promise<(name: string) => boolean> {
  const root = await realOf(folder);
  if (paths === undefined) return (name) => name.startsWith(root + sep);
  const files = new Set(paths.map((path) => join(root, ...path.split('/'))));
  return (name) => files.has(name);
}

/** The file by its real folder, and what it is a link to: saving writes there. */
async function namesOf(file: string): Promise<readonly string[]> {
  return [join(await realOf(dirname(file)), basename(file)), await realOf(file)];
}

/** What is not there (any more) has the real path of the nearest folder that is. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), basename(path));
  }
}
