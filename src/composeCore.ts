import { randomUUID } from 'node:crypto';
import { createAgentKit } from './agent/createAgentKit';
import { delay, systemClock } from './base/async';
import { Emitter } from './base/emitter';
import { type Logger, silentLogger } from './base/logger';
import { openRepository } from './composeRepository';
import {
  commandEnvironment,
  effectiveSettings,
  makeScratch,
  markedBy,
  modelConnection,
  toolSurroundings,
} from './composeRuns';
import { createGit } from './git/git';
import type { RepositoryFacts } from './git/repository';
import type { WithGitLock } from './git/worktreeMaking';
import type { Settings } from './model/settings';
import type { Task } from './model/task';
import { endLeftovers } from './process/leftovers';
import { runCommand } from './process/runCommand';
import { openStore } from './store/openStore';
import type { StoreProblem } from './store/store';
import { systemEvery } from './store/ticker';
import { Aims } from './tasks/aims';
import { Alarms } from './tasks/alarms';
import { Endings } from './tasks/endings';
import { LandingGate } from './tasks/gate';
import type { SweptItem } from './tasks/housekeepingApi';
import { KeptBranches } from './tasks/keptBranches';
import { Landing } from './tasks/landing';
import { GitLandingModes } from './tasks/landingModes';
import { LandingParts } from './tasks/landingParts';
import { LocalTaskService } from './tasks/localTaskService';
import { MergingIn } from './tasks/mergingIn';
import { MergingUndo } from './tasks/mergingUndo';
import { OverlapFinder } from './tasks/overlapFinder';
import type { PermissionPort } from './tasks/permission';
import { Reviews } from './tasks/reviews';
import { RunRoad } from './tasks/runRoad';
import { RunSupervisor } from './tasks/runSupervisor';
import { Scheduler } from './tasks/scheduler';
import { Scratches } from './tasks/scratches';
import type { AppendedEntry, StreamedEvent, TaskChange } from './tasks/taskApi';
import { TaskRecords } from './tasks/taskRecords';
import type { TaskService } from './tasks/taskService';
import { Verification } from './tasks/verification';
import { WaitingMessages } from './tasks/waitingMessages';
import { WorktreeKeeper } from './tasks/worktreeKeeper';
import { WorktreeSetup } from './tasks/worktreeSetup';
import { createVerifier } from './verify/verifier';

/** What comes in from outside: the editor and the command line each bring their own. */
export interface CorePorts {
  /** Any folder of the repository. */
  readonly directory: string;
  /** The same, where it is being asked about already. */
  readonly repository?: Promise<RepositoryFacts>;
  /** Asked whenever something begins: a new Run goes by the settings of that moment, one that lives keeps its own. */
  readonly settings: () => Settings;
  /** Read for git's and the model's variables; never handed to agents whole. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The key or token, asked for by each Run as it begins; `undefined`: there is none. */
  readonly credentials: () => Promise<Credentials | undefined>;
  readonly permission: PermissionPort;
  readonly appVersion: string;
  readonly logger?: Logger;
  /** Hears of files of the board that could not be used, where no result carries it; the log has them too. */
  readonly onProblem?: (problem: StoreProblem) => void;
  /** Hears of what the daily sweep removed. */
  readonly onSwept?: (items: readonly SweptItem[]) => void;
}

export type Credentials =
  | { readonly kind: 'apiKey'; readonly value: string }
  | { readonly kind: 'authToken'; readonly value: string };

/** Everything but the editor. `dispose` interrupts what runs and gives everything back. */
export interface Core {
  readonly repository: RepositoryFacts;
  readonly tasks: TaskService;
  dispose(): Promise<void>;
}

/** Throws `gitMissing`, `gitTooOld`, `notARepository`. */
export type ComposeCore = (ports: CorePorts) => Promise<Core>;

export const composeCore: ComposeCore = async (ports) => {
  const logger = ports.logger ?? silentLogger;
  const clock = systemClock;
  const bootId = randomUUID();
  const machine = { runCommand: markedBy(bootId, runCommand), env: ports.env };
  const facts = await (ports.repository ?? openRepository(ports.directory, ports.env));
  const onProblem = (problem: StoreProblem): void => {
    logger.error(problem.message, { path: problem.path });
    ports.onProblem?.(problem);
  };
  const store = await openStore({
    commonDir: facts.commonDir,
    clock,
    logger,
    onProblem,
    machine: { bootId },
  });
  const withGitLock: WithGitLock = (body, { signal }) =>
    store.locks.withLock('git', body, signal === undefined ? {} : { signal });
  const parts = createGit(facts, { ...machine, withGitLock });
  const settings = (): Settings => effectiveSettings(ports.settings());
  const kit = createAgentKit({ settings, env: ports.env, languageModel: modelConnection(ports) });
  const events = {
    changes: new Emitter<TaskChange>(logger),
    entries: new Emitter<AppendedEntry>(logger),
    stream: new Emitter<StreamedEvent>(logger),
  };
  const records = new TaskRecords({ store, clock, changes: events.changes });
  const setup = new WorktreeSetup({
    records,
    ...parts,
    runCommand,
    commandEnv: (of) => commandEnvironment(ports, bootId, of),
  });
  const keeper = new WorktreeKeeper({
    records,
    store,
    ...parts,
    setup,
    rootSetting: () => settings().worktrees.root,
  });
  const verifier = createVerifier({ runCommand });
  const commandEnv = (task: Task, runId: string): Record<string, string> =>
    commandEnvironment(ports, bootId, { taskId: task.id, runId });
  const scratches = new Scratches({
    store,
    ...parts,
    setup,
    rootSetting: () => settings().worktrees.root,
    newId: randomUUID,
    logger,
    endLeftovers,
  });
  const alarms = new Alarms({ records, store, ...parts, logger, newId: randomUUID });
  const gate = new LandingGate({ records, store, scratches, alarms, verifier, commandEnv });
  const modes = new GitLandingModes(parts);
  const landing = new Landing({ merges: parts.merges, modes, store, now: () => records.now() });
  const aims = new Aims({ branches: parts.branches, keeper, gate });
  const keptBranches = new KeptBranches({ branches: parts.branches, aims });
  const landingParts = new LandingParts({ hunks: parts.hunks });
  const mergingUndo = new MergingUndo({ merges: parts.merges, landing, store, now: () => records.now() });
  const endings = new Endings({
    records,
    keeper,
    landing,
    aims,
    keptBranches,
    ...parts,
    parts: landingParts,
    mergingUndo,
  });
  const supervisor = new RunSupervisor({
    alarms,
    kit,
    store,
    permission: ports.permission,
    entries: events.entries,
    stream: events.stream,
    toolContext: toolSurroundings({ ports, bootId, store, facts, ...parts }),
    now: () => clock.now(),
    random: Math.random,
    delay,
    appVersion: ports.appVersion,
    platform: process.platform,
  });
  const messages = new WaitingMessages({ records, store, newId: randomUUID });
  const road = new RunRoad({
    records,
    store,
    ...parts,
    keeper,
    scheduler: new Scheduler(() => settings().maxConcurrentRuns),
    supervisor,
    kit,
    messages,
  });
  const verification = new Verification({
    records,
    store,
    ...parts,
    keeper,
    road,
    verifier,
    commandEnv,
    alarms,
    scratch: makeScratch,
  });
  const tasks = new LocalTaskService({
    store,
    records,
    ...parts,
    keeper,
    road,
    endings,
    landing,
    aims,
    keptBranches,
    scratches,
    parts: landingParts,
    reviews: new Reviews({ hunks: parts.hunks, parts: landingParts, records }),
    verification,
    mergingIn: new MergingIn({ records, keeper, ...parts }),
    overlapFinder: new OverlapFinder({ ...parts, cache: store.overlaps }),
    kit,
    messages,
    settings,
    logger,
    clock,
    delay,
    endLeftovers,
    every: systemEvery,
    ...(ports.onSwept === undefined ? {} : { onSwept: ports.onSwept }),
    events,
  });
  return { repository: facts, tasks, dispose: () => tasks.dispose() };
};
