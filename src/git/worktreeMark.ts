import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './checkouts';
import { decodePath, encodePath } from './parsers/pathBytes';

/** Writes beside a worktree's index that Tributary made it, and on which branch. */
export async function markAsOurs(gitDir: string, branch: string): Promise<void> {
  await writeFile(markAt(gitDir), encodePath(`${branch}\n`));
}

/** The branch on which Tributary made a worktree; `undefined`: it carries no mark. */
export async function markOf(gitDir: string): Promise<string | undefined> {
  return lineIn(markAt(gitDir));
}

/** Whether Tributary made this worktree on this branch. One without a mark is ours while it is on the branch. */
export async function isOurs(gitDir: string, branch: string): Promise<boolean> {
  const marked = await markOf(gitDir);
  if (marked !== undefined) return marked === branch;
  return isBranchOfOurs(branch) && (await headIn(gitDir)) === branch;
}

/** The branch HEAD of an administration directory is on. */
export async function headIn(gitDir: string): Promise<string | undefined> {
  return /^ref: (.+)$/.exec((await lineIn(join(gitDir, 'HEAD'))) ?? '')?.[1];
}

/** Whether a full ref name is one that Tributary would give a branch. */
export function isBranchOfOurs(branch: string): boolean {
  return /^refs\/heads\/tributary[/-]./.test(branch);
}

async function lineIn(file: string): Promise<string | undefined> {
  const content = await readFile(file).catch(unlessMissing);
  return content === undefined ? undefined : decodePath(content).replace(/\n$/, '');
}

function markAt(gitDir: string): string {
  return join(gitDir, 'tributary-branch');
}
