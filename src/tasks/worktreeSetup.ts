import { cancelled } from '../base/async';
import { TributaryError, toTributaryError } from '../base/errors';
import type { Provision } from '../git/provision';
import type { RunId } from '../model/ids';
import type { Provided, SetupCommand, SetupRecord } from '../model/setup';
import { setupPlanOf, type Task } from '../model/task';
import type { CommandResult, RunCommand } from '../process/runCommand';
import type { TaskRecords } from './taskRecords';

export interface WorktreeSetupDeps {
  readonly records: TaskRecords;
  readonly provision: Provision;
  readonly runCommand: RunCommand;
  /** What a command sees of the environment. */
  readonly commandEnv: (of: { taskId: string; runId: string }) => Readonly<Record<string, string>>;
}

/** A Task whose Worktree stands, and the Run that needs it. */
interface Place {
  readonly task: Task & { readonly worktreePath: string };
  readonly runId: RunId;
}

/** So much of a command's output is kept on the record. */
const keptOutput = 4_000;
/** What goes away does not wait as long as what comes. */
const longestTeardownMs = 120_000;

/** Makes a Worktree ready beyond the files of its base, and takes leave of it: copies, shared folders, commands. */
export class WorktreeSetup {
  private readonly deps: WorktreeSetupDeps;

  constructor(deps: WorktreeSetupDeps) {
    this.deps = deps;
  }

  /** All that a new Worktree needs, once its files stand. Throws `setup` when a command fails. */
  async prepare(place: Place, signal: AbortSignal): Promise<void> {
    const plan = setupPlanOf(place.task);
    const provided = await this.provide(place.task, signal);
    const isNothing = provided.copied + provided.shared.length + provided.skipped.length === 0;
    if (isNothing && plan.commands.length === 0) return;
    await this.keep(place, (record) => ({ ...record, provided }));
    if (!isNothing) await this.deps.records.report(place.task, { type: 'worktree.provided', ...provided });
    await this.runCommands(place, signal);
  }

  /** What a Worktree that came back lacks of what it had. Throws nothing: the work in it counts more. */
  async provideAgain(task: Place['task'], signal?: AbortSignal): Promise<void> {
    try {
      await this.provide(task, signal);
    } catch (error) {
      const { code, message } = toTributaryError(error);
      const skipped = [{ path: '.', why: `${code}: ${message}` }];
      await this.deps.records.report(task, { type: 'worktree.provided', copied: 0, shared: [], skipped });
    }
  }

  /** Whether commands have to run in the standing Worktree before tools may. */
  isDue(task: Task): boolean {
    return setupPlanOf(task).commands.length > 0 && task.setup?.state !== 'done';
  }

  /** The set-up commands, one after another. Throws `setup` with the end of the output of the one that failed. */
  async runCommands(place: Place, signal: AbortSignal): Promise<void> {
    const { commands, timeoutMs } = setupPlanOf(place.task);
    await this.keep(place, ({ teardown: _, ...record }) => ({ ...record, commands: [] }));
    for (const command of commands) {
      await this.keep(place, (record) => ({ ...record, state: 'running', current: command }));
      const done = await this.run(place, { phase: 'setup', command, timeoutMs, signal });
      const isGood = done.reason === 'exited' && done.exitCode === 0;
      await this.keep(place, ({ current: _, ...record }) => ({
        ...record,
        state: isGood ? record.state : 'failed',
        commands: [...record.commands, done],
      }));
      await this.tellEnd(place, 'setup', done);
      if (signal.aborted) throw cancelled();
      if (!isGood) throw setupFailed(done);
    }
    await this.keep(place, (record) => ({ ...record, state: 'done' }));
  }

  /**
   * The tear-down commands, before the Worktree goes: each once, and none again after a crash. What fails is told.
   * From here on a Worktree that comes back needs its set-up anew.
   */
  async tearDown(task: Place['task']): Promise<void> {
    const { teardown: commands, timeoutMs } = setupPlanOf(task);
    const runId = task.runs.at(-1)?.id;
    if (task.setup === undefined || task.setup.teardown !== undefined || runId === undefined) return;
    const place = { task, runId };
    await this.keep(place, (record) => ({ ...record, state: 'due', teardown: [] }));
    for (const command of commands) {
      const limit = Math.min(timeoutMs, longestTeardownMs);
      const done = await this.run(place, { phase: 'teardown', command, timeoutMs: limit });
      await this.keep(place, (record) => ({ ...record, teardown: [...(record.teardown ?? []), done] }));
      await this.tellEnd(place, 'teardown', done);
    }
  }

  /** The same for a checkout that only commands of the host see: nothing of it stands on the Task's record. */
  async prepareScratch(place: Place, signal: AbortSignal | undefined): Promise<void> {
    const { commands, timeoutMs } = setupPlanOf(place.task);
    await this.provide(place.task, signal);
    for (const command of commands) {
      const job = {
        phase: 'setup' as const,
        command,
        timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      };
      const done = await this.run(place, job);
      await this.tellEnd(place, 'setup', done);
      if (signal?.aborted) throw cancelled();
      if (done.reason !== 'exited' || done.exitCode !== 0) throw setupFailed(done);
    }
  }

  /** Before such a checkout goes. */
  async tearDownScratch(place: Place): Promise<void> {
    const { teardown, timeoutMs } = setupPlanOf(place.task);
    const limit = Math.min(timeoutMs, longestTeardownMs);
    for (const command of teardown) {
      const done = await this.run(place, { phase: 'teardown', command, timeoutMs: limit });
      await this.tellEnd(place, 'teardown', done);
    }
  }

  private provide(task: Place['task'], signal: AbortSignal | undefined): Promise<Provided> {
    return this.deps.provision.provide({ worktreePath: task.worktreePath, plan: setupPlanOf(task), signal });
  }

  private async run(
    { task, runId }: Place,
    job: { phase: 'setup' | 'teardown'; command: string; timeoutMs: number; signal?: AbortSignal },
  ): Promise<SetupCommand> {
    const { records, runCommand, commandEnv } = this.deps;
    const { phase, command, timeoutMs, signal } = job;
    await records.report(task, { type: 'worktree.command.started', runId, phase, command });
    const result = await runCommand({
      command: { kind: 'shell', text: command },
      cwd: task.worktreePath,
      env: {
        ...commandEnv({ taskId: task.id, runId }),
        ...placeVariables(task),
      },
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    return commandOf(command, result);
  }

  /** Once it stands on the record, where it is to stand there. */
  private async tellEnd(
    { task, runId }: Place,
    phase: 'setup' | 'teardown',
    done: SetupCommand,
  ): Promise<void> {
    await this.deps.records.report(task, { type: 'worktree.command.ended', runId, phase, ...done });
  }

  private async keep({ task }: Place, change: (record: SetupRecord) => SetupRecord): Promise<void> {
    const at = this.deps.records.now();
    const empty: SetupRecord = { state: 'running', at, commands: [] };
    await this.deps.records.change(task.id, (current) => ({
      ...current,
      setup: { ...change(current.setup ?? empty), at },
    }));
  }
}

/** Where a command is and where the checkout is, also by the names that scripts made for other tools know. */
function placeVariables({
  worktreePath,
  branch,
  packet,
  slug,
}: Place['task']): Readonly<Record<string, string>> {
  const { root } = packet.repository;
  return {
    TRIBUTARY_WORKTREE_PATH: worktreePath,
    TRIBUTARY_ROOT_PATH: root,
    ...(branch === undefined ? {} : { TRIBUTARY_BRANCH: branch.replace(/^refs\/heads\//, '') }),
    ROOT_WORKTREE_PATH: root,
    WORKTREE_PATH: worktreePath,
    REPO_PATH: root,
    SUPERSET_ROOT_PATH: root,
    SUPERSET_WORKSPACE_PATH: worktreePath,
    SUPERSET_WORKSPACE_NAME: slug,
    CODEX_SOURCE_TREE_PATH: root,
    CODEX_WORKTREE_PATH: worktreePath,
    CONDUCTOR_ROOT_PATH: root,
    CONDUCTOR_WORKSPACE_PATH: worktreePath,
    OPENCLAW_SOURCE_TREE_PATH: root,
    OPENCLAW_WORKTREE_PATH: worktreePath,
  };
}

function commandOf(command: string, result: CommandResult): SetupCommand {
  const { exitCode, reason, durationMs, output, startError, signal } = result;
  const said = [
    output.trimEnd(),
    ...(startError === undefined ? [] : [`It could not be started: ${startError}.`]),
    ...(signal === undefined || reason !== 'exited' ? [] : [`It was ended by ${signal}.`]),
  ].filter((part) => part !== '');
  return { command, exitCode, reason, durationMs, output: tailOf(said.join('\n')) };
}

/** The last whole lines. */
function tailOf(text: string): string {
  if (text.length <= keptOutput) return text;
  const tail = text.slice(-keptOutput);
  return `…\n${tail.slice(tail.indexOf('\n') + 1)}`;
}

function setupFailed({ command, exitCode, reason, output }: SetupCommand): TributaryError {
  const how =
    reason === 'timeout'
      ? 'took too long and was ended'
      : exitCode === null
        ? 'did not come to an end of its own'
        : `ended with ${exitCode}`;
  const said = output === '' ? '' : `\n${output}`;
  return new TributaryError('setup', `${command} ${how}${said}`, {
    details: { command, exitCode, reason, output },
  });
}
