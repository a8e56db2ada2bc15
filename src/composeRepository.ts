import { createRepositories, type RepositoryFacts } from './git/repository';
import { runCommand } from './process/runCommand';

/**
 * Asks git where the repository around `directory` is. Loads little, so that git can be at it while the rest of
 * the program is loaded. Throws `gitMissing`, `gitTooOld`, `notARepository`.
 */
export function openRepository(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RepositoryFacts> {
  return createRepositories({ runCommand, env }).open(directory);
}
