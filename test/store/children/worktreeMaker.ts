// Makes Worktrees beside each other in a repository that another process works in too; prints what came of each.
import { join } from 'node:path';
import * as z from 'zod';
import { createGit } from '../../../src/git/git';
import { createRepositories } from '../../../src/git/repository';
import { runCommand } from '../../../src/process/runCommand';
import { openStore } from '../../../src/store/openStore';

const requestSchema = z.object({
  root: z.string(),
  prefix: z.string(),
  count: z.number(),
  commit: z.string(),
});
const { root, prefix, count, commit } = requestSchema.parse(JSON.parse(process.argv[2] ?? ''));

const deps = { runCommand, env: process.env };
const facts = await createRepositories(deps).open(root);
const store = await openStore({ commonDir: facts.commonDir });
const { worktrees, snapshots } = createGit(facts, {
  ...deps,
  withGitLock: (body, { signal }) =>
    store.locks.withLock('git', body, signal === undefined ? {} : { signal }),
});
const names = Array.from({ length: count }, (_, at) => `${prefix}${at}`);
await Promise.all(
  names.map(async (name) => {
    const path = join(`${root}.worktrees`, name);
    try {
      await worktrees.create({ path, branch: `refs/heads/tributary/${name}`, commit, lockReason: name });
      console.log(`made ${name} ${await snapshots.treeOf(path)}`);
    } catch (error) {
      console.log(`failed ${name} ${error instanceof Error ? error.message : String(error)}`);
    }
  }),
);
await store.dispose();
