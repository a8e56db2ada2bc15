import type { AgentKit, AgentRole, Assembled } from '../agent/agentKit';
import type { LoopOutcome, UserMessage } from '../agent/agentLoop';
import type { CheckReport, FindingReport, ToolContext, ToolSet } from '../agent/tools/tool';
import { type CancelReason, cancelReasonOf } from '../base/async';
import type { Emitter } from '../base/emitter';
import { type TributaryError, toTributaryError } from '../base/errors';
import type { Answer } from '../model/answer';
import type { ContentBlock, Message } from '../model/messages';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { LiveEvent, NewEntry, TranscriptHeader } from '../model/transcript';
import { noUsage, type Usage } from '../model/usage';
import type { Store, TranscriptWriter } from '../store/store';
import type { ObservedCommand } from '../verify/verifier';
import type { Alarms } from './alarms';
import { conversationOf, joinMessages } from './conversation';
import { ObservedCommands } from './observedCommands';
import type { PermissionPort } from './permission';
import type { AppendedEntry, StreamedEvent } from './taskApi';

/** Where a Run works: its Worktree, or the user's checkout for an agent that only reads. */
export interface RunPlace {
  readonly root: string;
  readonly branch?: string;
  readonly isWorktree: boolean;
  readonly treeAtStart: string;
}

export interface RunJob {
  readonly task: Task;
  readonly run: Run;
  readonly role: AgentRole;
  readonly place: RunPlace;
  /** Tools wait for it; when it rejects there is nothing to work on, and the Run has failed. */
  readonly files: Promise<void>;
  /** For those who judge. */
  readonly diff?: { readonly patch: string; readonly files: readonly string[] };
  readonly docs?: string;
  readonly gitStatus?: string;
  /** A folder of the Run's own, told as `TRIBUTARY_SCRATCH` and `TMPDIR`. */
  readonly scratch?: string;
  /** After a Turn that may have changed files. */
  readonly onTurn: (turn: number) => Promise<void>;
  /** Messages of the user that wait for this Run; each is offered until it was `said`. */
  readonly takeMessages: () => Promise<readonly UserMessage[]>;
  /** A message stands in the transcript. */
  readonly said: (messageId: string) => Promise<void>;
}

/** How a Run ended, and what it left behind for whoever asked. */
export interface RunOutcome {
  readonly state: 'completed' | 'failed' | 'stopped' | 'interrupted';
  readonly reason: string;
  readonly message: string;
  readonly usage: Usage;
  /** Model answers it had. */
  readonly turns: number;
  readonly text: string;
  readonly answer?: Answer;
  readonly checks: readonly CheckReport[];
  readonly findings: readonly FindingReport[];
  readonly commands: readonly ObservedCommand[];
  /** Milliseconds it waited for the user's answers. */
  readonly waitedMs?: number;
}

export interface RunSupervisorDeps {
  readonly kit: AgentKit;
  readonly store: Store;
  readonly permission: PermissionPort;
  readonly entries: Emitter<AppendedEntry>;
  readonly stream: Emitter<StreamedEvent>;
  /** Builds what tools need of the machine: environment, ripgrep, the Diff. */
  readonly toolContext: (
    job: RunJob,
  ) => Promise<
    Omit<ToolContext, 'around' | 'askPermission' | 'onCheck' | 'onFinding' | 'onTodos' | 'onLive'>
  >;
  /** Looks after what its commands must not change. */
  readonly alarms: Alarms;
  readonly now: () => Date;
  readonly random: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly appVersion: string;
  readonly platform: string;
}

/** Runs one agent from its first message to its last, writing everything it does before anybody is told. */
export class RunSupervisor {
  private readonly deps: RunSupervisorDeps;

  constructor(deps: RunSupervisorDeps) {
    this.deps = deps;
  }

  /** Never throws for what a model, a tool or a user does: that is an outcome. Worktree and lock are the caller's. */
  async run(job: RunJob, signal: AbortSignal): Promise<RunOutcome> {
    const observed = new ObservedCommands();
    const checks: CheckReport[] = [];
    const findings: FindingReport[] = [];
    const failing = new AbortController();
    job.files.catch(() => failing.abort('worktree' satisfies CancelReason));
    let writer: TranscriptWriter | undefined;
    try {
      const model = await this.deps.kit.languageModel();
      const opening = await this.open(job);
      writer = await this.deps.store.transcripts.create(opening.header);
      const append = this.appender(job, writer, observed);
      if (opening.message !== undefined)
        await append({ type: 'user', content: [...opening.message], origin: opening.origin });
      for (const { id, text } of opening.waiting)
        await append({ type: 'user', content: [textBlock(text)], origin: 'user', messageId: id });
      const context = await this.context(job, append, { checks, findings });
      const tools = await this.deps.kit.toolSet(job.role, context);
      const outcome = await this.deps.kit.loop(
        {
          model,
          tools: withFiles(tools, job.files),
          append,
          onLive: (event) => this.live(job, event),
          afterTurn: job.onTurn,
          takeMessages: job.takeMessages,
          mend: this.deps.kit.mend,
          random: this.deps.random,
          delay: this.deps.delay,
          now: this.deps.now,
        },
        {
          system: opening.header.system,
          params: opening.header.params,
          messages: opening.messages,
          firstCall: opening.firstCall,
          maxTurns: job.task.packet.limits.turns,
          silenceMs: job.role.silenceMs,
        },
        AbortSignal.any([signal, failing.signal]),
      );
      const ended = this.ended(outcome, await reasonOf(job.files), signal);
      await append({ type: 'state', state: ended.state, reason: ended.reason });
      if (ended.text !== '')
        await this.deps.store.transcripts.writeOutput(job.task.id, job.run.id, ended.text);
      return { ...ended, checks, findings, commands: observed.list(), waitedMs: observed.waitedMs };
    } catch (error) {
      // Where the files did not come, that is why whatever looked for them failed.
      const why = (await reasonOf(job.files)) ?? error;
      const { waitedMs } = observed;
      return { ...failed(why, signal), checks, findings, commands: observed.list(), waitedMs };
    } finally {
      await writer?.close();
    }
  }

  /** What the first request says: assembled anew, or the conversation that this Run goes on with. */
  private async open(job: RunJob): Promise<Opening> {
    const { run } = job;
    const waiting = await job.takeMessages();
    if (run.resumes !== undefined) {
      const earlier = await conversationOf(this.deps, job.task.id, run.resumes);
      const header = {
        ...earlier.header,
        ...this.headerOf(job),
        system: earlier.header.system,
        tools: earlier.header.tools,
        params: earlier.header.params,
        resumes: run.resumes,
      };
      // A follow-up says what waits, which is what it was begun for.
      const needsMessage =
        run.kind === 'resume' ? earlier.messages.at(-1)?.role !== 'user' : waiting.length === 0;
      const message = needsMessage ? [textBlock(run.instruction)] : undefined;
      const said = [...(message ?? []), ...waiting.map(({ text }) => textBlock(text))];
      const messages =
        said.length === 0
          ? earlier.messages
          : joinMessages(earlier.messages, [{ role: 'user', content: said }]);
      return {
        header,
        messages,
        firstCall: earlier.lastCall + 1,
        ...(message === undefined ? {} : { message }),
        waiting,
        origin: run.kind === 'resume' ? 'resumed' : 'user',
      };
    }
    const assembled = this.assemble(job);
    const header: TranscriptHeader = {
      ...this.headerOf(job),
      system: [...assembled.system],
      tools: [...(await this.deps.kit.toolSpecs(job.role))],
      params: assembled.params,
    };
    const said = waiting.map(({ text }) => textBlock(text));
    const messages: Message[] = [{ role: 'user', content: [...assembled.message, ...said] }];
    return { header, messages, firstCall: 1, message: assembled.message, waiting, origin: 'instruction' };
  }

  private assemble(job: RunJob): Assembled {
    const { task, run, role, place } = job;
    return this.deps.kit.assemble({
      role,
      model: run.model,
      kind: run.kind,
      packet: task.packet,
      instruction: run.instruction,
      place: {
        directory: place.root,
        isWorktree: place.isWorktree,
        ...(place.branch === undefined ? {} : { branch: place.branch }),
      },
      today: this.deps.now().toISOString().slice(0, 10),
      platform: this.deps.platform,
      ...(job.docs === undefined || !role.wantsDocs ? {} : { docs: job.docs }),
      ...(job.gitStatus === undefined || !role.wantsGitStatus ? {} : { gitStatus: job.gitStatus }),
      ...(job.diff === undefined ? {} : { diff: job.diff }),
    });
  }

  private headerOf(job: RunJob): Omit<TranscriptHeader, 'system' | 'tools' | 'params'> {
    const { task, run, place } = job;
    const { ref, commit } = task.packet.repository.base;
    return {
      v: 1,
      type: 'header',
      runId: run.id,
      taskId: task.id,
      kind: run.kind,
      agent: run.agent,
      model: run.model,
      lifecycle: run.lifecycle,
      context: run.context,
      ...(run.parentRunId === undefined ? {} : { parentRunId: run.parentRunId }),
      ...(run.parentToolCallId === undefined ? {} : { parentToolCallId: run.parentToolCallId }),
      base: { ref, commit },
      treeAtStart: place.treeAtStart,
      appVersion: this.deps.appVersion,
      startedAt: this.deps.now().toISOString(),
    };
  }

  /** Entries are on disk before anybody is told. */
  private appender(
    job: RunJob,
    writer: TranscriptWriter,
    observed: ObservedCommands,
  ): (entry: NewEntry) => Promise<void> {
    return async (entry) => {
      const written = await writer.append(entry);
      observed.see(written);
      if (written.type === 'user' && written.messageId !== undefined) await job.said(written.messageId);
      this.deps.entries.fire({ taskId: job.task.id, runId: job.run.id, entry: written });
    };
  }

  private live(job: RunJob, event: LiveEvent): void {
    this.deps.stream.fire({ taskId: job.task.id, runId: job.run.id, event });
  }

  private async context(
    job: RunJob,
    append: (entry: NewEntry) => Promise<void>,
    reports: { checks: CheckReport[]; findings: FindingReport[] },
  ): Promise<ToolContext> {
    let questions = 0;
    return {
      ...(await this.deps.toolContext(job)),
      onCheck: (report) => void reports.checks.push(report),
      onFinding: (report) => void reports.findings.push(report),
      onTodos: () => undefined,
      onLive: (event) => this.live(job, event),
      around: (command, body) =>
        this.deps.alarms.around({ task: job.task, runId: job.run.id, append }, command, body),
      askPermission: async ({ toolUseId, tool, command }, signal) => {
        questions += 1;
        const questionId = `${job.run.id}_q${questions}`;
        await append({ type: 'question', questionId, toolUseId, tool, command });
        const decision = await this.deps.permission.ask(
          { id: questionId, taskId: job.task.id, runId: job.run.id, agent: job.run.agent, tool, command },
          signal,
        );
        await append({ type: 'answer', questionId, allowed: decision.kind === 'allowed', by: decision.by });
        return decision.kind === 'allowed'
          ? { kind: 'allowed' }
          : { kind: 'denied', reason: decision.reason };
      },
    };
  }

  private ended(
    outcome: LoopOutcome,
    withoutFiles: TributaryError | undefined,
    signal: AbortSignal,
  ): Omit<RunOutcome, 'checks' | 'findings' | 'commands' | 'waitedMs'> {
    if (withoutFiles !== undefined && !signal.aborted) {
      const { usage, turns } = outcome;
      const { code, message } = withoutFiles;
      return { state: 'failed', reason: code, message, usage, turns, text: '' };
    }
    switch (outcome.kind) {
      case 'completed':
        return {
          state: 'completed',
          reason: 'done',
          message: '',
          usage: outcome.usage,
          turns: outcome.turns,
          text: outcome.text,
          answer: this.deps.kit.parseAnswer(outcome.text),
        };
      case 'failed':
        return {
          state: 'failed',
          reason: outcome.reason,
          message: outcome.message,
          usage: outcome.usage,
          turns: outcome.turns,
          text: '',
        };
      case 'cancelled':
        return { ...cancelledAs(outcome.reason), usage: outcome.usage, turns: outcome.turns, text: '' };
    }
  }
}

interface Opening {
  readonly header: TranscriptHeader;
  readonly messages: readonly Message[];
  readonly firstCall: number;
  /** Absent when the conversation already ends with the user. */
  readonly message?: Assembled['message'];
  /** Of the user, after it. */
  readonly waiting: readonly UserMessage[];
  readonly origin: 'instruction' | 'user' | 'resumed';
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

/** The same tools, each call held back until the files are there. */
function withFiles(tools: ToolSet, files: Promise<void>): ToolSet {
  return {
    specs: tools.specs,
    isCommand: (name) => tools.isCommand(name),
    run: async (use, call) => {
      await files;
      return tools.run(use, call);
    },
  };
}

/** Why the files did not come, once that is certain; `undefined`: they came. */
function reasonOf(files: Promise<void>): Promise<TributaryError | undefined> {
  return files.then(
    () => undefined,
    (error: unknown) => toTributaryError(error),
  );
}

/** The end of a Run that was cancelled, by what cancelled it. */
export function cancelledAs(reason: CancelReason): {
  state: 'stopped' | 'interrupted' | 'failed';
  reason: string;
  message: string;
} {
  switch (reason) {
    case 'user':
      return { state: 'stopped', reason: 'user', message: 'stopped by the user' };
    case 'shutdown':
      return { state: 'interrupted', reason: 'shutdown', message: 'the process that ran it was shut down' };
    case 'timeout':
      return { state: 'failed', reason: 'limit', message: 'its time was used up' };
    case 'budget':
      return { state: 'failed', reason: 'limit', message: 'its budget was used up' };
    case 'worktree':
      return { state: 'failed', reason: 'worktreeFailed', message: 'its files could not be put there' };
  }
}

function failed(
  error: unknown,
  signal: AbortSignal,
): Omit<RunOutcome, 'checks' | 'findings' | 'commands' | 'waitedMs'> {
  if (signal.aborted) return { ...cancelledAs(cancelReasonOf(signal)), usage: noUsage, turns: 0, text: '' };
  const failure: TributaryError = toTributaryError(error);
  return {
    state: 'failed',
    reason: failure.code,
    message: failure.message,
    usage: noUsage,
    turns: 0,
    text: '',
  };
}
