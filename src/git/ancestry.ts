import type { Git } from './plumbing';

/** Whether `tip` reaches `commit`; not where either is gone. */
export async function isAncestor(
  git: Git,
  place: Pick<Parameters<Git>[0], 'cwd' | 'env'>,
  { commit, tip }: { readonly commit: string; readonly tip: string },
): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', commit, tip];
  return (await git({ ...place, args, okCodes: [0, 1, 128] })).exitCode === 0;
}
