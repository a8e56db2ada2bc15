import type { ChangeSet } from '../model/changes';

/** What differs between a commit or tree and a tree, whatever the user's configuration says. */
export interface Changes {
  /** Renames detected; submodules as their commits; binaries marked. */
  changeSet(base: string, tree: string): Promise<ChangeSet>;
  /** A patch that `git apply --binary` can apply, as bytes; one path only when given. */
  patch(base: string, tree: string, path?: string): Promise<Buffer>;
}
