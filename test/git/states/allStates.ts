import { agentGitStates } from './agentGit';
import { encodingStates } from './encodings';
import { fileStates } from './files';
import { placeStates } from './places';
import { settingStates } from './settings';
import type { RepositoryState } from './state';
import { submoduleStates } from './submodules';
import { userStates } from './users';

/** The table, by what its rows are about. */
export const states: Readonly<Record<string, readonly RepositoryState[]>> = {
  'wherever the repository is': placeStates,
  'whatever the user has there': userStates,
  'with submodules': submoduleStates,
  'however files are encoded': encodingStates,
  'whatever is configured': settingStates,
  'whatever the agent does to files': fileStates,
  'whatever the agent does with git': agentGitStates,
};
