import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../base/async';
import { type FileOps, systemFileOps } from '../base/atomicFile';
import { type Logger, silentLogger } from '../base/logger';
import { FileBoardCare } from './boardCare';
import { FileJournal } from './journal';
import { LockFiles } from './lockFiles';
import { FileLocks } from './locks';
import { type Migrations, migrations } from './migrations';
import { FileOverlapCache } from './overlapCacheFile';
import { FileOwners } from './owners';
import { StorePaths } from './paths';
import { type ProcessTable, systemProcessTable } from './processIdentity';
import { RecordFiles } from './recordFiles';
import { FileRequests } from './requests';
import type { Store, StoreProblem } from './store';
import { FileTaskStore } from './taskStore';
import { TaskWatch } from './taskWatch';
import { type Every, systemEvery, systemWatchFolder, type WatchFolder } from './ticker';
import { FileTranscripts } from './transcripts';
import { FileWorktreeRecords } from './worktreeRecords';

export interface OpenStoreOptions {
  /** The repository's git common directory, absolute; the same from every worktree. */
  readonly commonDir: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Hears of files that could not be used where no result carries it. Default: the log. */
  readonly onProblem?: (problem: StoreProblem) => void;
  /** Replaces parts of the machine, in tests. */
  readonly machine?: Partial<StoreMachine>;
}

/** What the store uses of the machine. */
export interface StoreMachine {
  readonly ops: FileOps;
  readonly every: Every;
  readonly watchFolder: WatchFolder;
  readonly processes: ProcessTable;
  readonly random: () => number;
  readonly migrations: Migrations;
  readonly bootId: string;
}

/** Opens the board of a repository. Touches no disk until something is read, makes no file until something is written. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { clock = systemClock, logger = silentLogger } = options;
  const machine: StoreMachine = {
    ops: systemFileOps,
    every: systemEvery,
    watchFolder: systemWatchFolder,
    processes: systemProcessTable(),
    random: Math.random,
    migrations,
    bootId: randomUUID(),
    ...options.machine,
  };
  const onProblem =
    options.onProblem ?? (({ message, path }: StoreProblem): void => logger.error(message, { path }));
  const paths = new StorePaths(options.commonDir);
  const shared = { paths, clock, logger, ...machine };
  const owners: FileOwners = new FileOwners({
    ...shared,
    afterStart: async () => {
      await owners.sweep();
      await files.sweep();
    },
  });
  const files: LockFiles = new LockFiles({ ...shared, folder: paths.locks, owners });
  const locks = new FileLocks({ ...shared, files });
  const records = new RecordFiles({ ...shared, locks, onProblem });
  const watch = new TaskWatch(shared);
  const requests = new FileRequests({ ...shared, records });
  return {
    directory: paths.root,
    tasks: new FileTaskStore({ ...shared, locks, records, watch }),
    transcripts: new FileTranscripts({ ...shared, locks, records }),
    worktrees: new FileWorktreeRecords({ ...shared, locks, records }),
    locks,
    owners,
    requests,
    journal: new FileJournal({ ...shared, records }),
    overlaps: new FileOverlapCache({ ...shared, records }),
    care: new FileBoardCare({ ...shared, locks, files, owners, records }),
    asideDirectory: (taskId) => paths.aside(taskId),
    dispose: async () => {
      watch.dispose();
      requests.dispose();
      await Promise.all([watch.idle(), requests.idle()]);
      await owners.dispose();
    },
  };
}
