import type { BoardEvent } from '../../../../src/model/events';
import { makeRunId } from '../../../../src/model/ids';
import type { Run } from '../../../../src/model/run';
import type { Task } from '../../../../src/model/task';
import type { LiveEvent, NewEntry, TranscriptEntry } from '../../../../src/model/transcript';
import type { Verdict } from '../../../../src/model/verdict';
import type { Settled } from '../../../../src/tasks/taskApi';
import type { FakeTaskService } from '../../../fakes/fakeTaskService';
import { at, end, makeRun, makeTask } from '../../../fakes/records';

/** One Run with thinking, text, tools, a retry, a question; then a verification that fails. */

const tree = 'b'.repeat(40);
const commit = 'c'.repeat(40);
const usage = { requests: 3, input: 1200, output: 340, cacheRead: 5000, cacheWrite: 800 };

export const authorRun: Run = makeRun({ usage, status: { state: 'completed', startedAt: at, end } });
export const verifyRun: Run = makeRun({
  id: makeRunId('20260102T030405678', 2),
  kind: 'verify',
  agent: 'verification',
  usage,
  status: { state: 'completed', startedAt: at, end },
});

export const failedVerdict: Verdict = {
  verdict: 'FAIL',
  stated: 'PASS',
  runId: verifyRun.id,
  tree,
  at,
  checks: [
    {
      source: 'acceptance',
      title: 'npm test',
      command: 'npm test',
      exitCode: 0,
      observed: 'ok',
      result: 'pass',
      evidence: 'host',
      isOwn: false,
    },
    {
      source: 'verifier',
      title: 'empty input',
      command: 'node -e "parse(\'\')"',
      exitCode: 1,
      observed: 'TypeError',
      result: 'fail',
      call: 1,
      evidence: 'bound',
      isOwn: true,
    },
    {
      source: 'verifier',
      title: 'many threads',
      command: 'node stress.js',
      exitCode: null,
      observed: '',
      result: 'skip',
      evidence: 'unobserved',
      isOwn: true,
    },
  ],
  findings: [
    {
      id: 'f1',
      location: { path: 'src/parse.ts', line: 12 },
      severity: 'error',
      title: 'Empty input throws',
      detail: 'd',
      source: 'verifier',
    },
    { id: 'f2', severity: 'warning', title: 'claimed, not observed', detail: 'd', source: 'host' },
  ],
  reasons: ['A check failed.'],
};

export const storyTask: Task = makeTask({
  slug: 'fix-the-parser',
  branch: 'refs/heads/tributary/fix-the-parser',
  worktreePath: '/repo.worktrees/fix-the-parser',
  runs: [authorRun, verifyRun],
  snapshot: {
    ref: 'refs/tributary/snapshots/1',
    commit,
    tree,
    runId: authorRun.id,
    turn: 2,
    at,
    headCommit: commit,
  },
  snapshotCount: 1,
  verdicts: [failedVerdict],
});

export const settled: Settled = { task: storyTask, runs: [authorRun, verifyRun], verdict: failedVerdict };

type OfType<E> = E extends unknown ? Omit<E, 'v' | 'at' | 'taskId'> : never;

/** Fires events of the story's Task. */
export class Teller {
  private readonly fake: FakeTaskService;
  private counter = 0;

  constructor(fake: FakeTaskService) {
    this.fake = fake;
  }

  event(event: OfType<BoardEvent>, task: Task = storyTask): void {
    this.fake.changes.fire({ task, event: { v: 1, at, taskId: task.id, ...event } });
  }

  entry(entry: NewEntry, run: Run = authorRun): void {
    this.counter += 1;
    const whole: TranscriptEntry = { id: `e${this.counter}`, parentId: null, at, ...entry };
    this.fake.entries.fire({ taskId: storyTask.id, runId: run.id, entry: whole });
  }

  live(event: LiveEvent, run: Run = authorRun): void {
    this.fake.streams.fire({ taskId: storyTask.id, runId: run.id, event });
  }
}

/** The beginning: what a Task tells before its first Run speaks. */
export function tellBeginning(tell: Teller): void {
  const { base } = storyTask.packet.repository;
  tell.event({
    type: 'task.created',
    objective: 'Fix the parser',
    agent: 'general',
    base: { ...base, behind: 2 },
    branch: 'refs/heads/tributary/fix-the-parser',
  });
  tell.event({ type: 'run.created', runId: authorRun.id, kind: 'first', agent: 'general', model: 'model' });
  tell.event({ type: 'run.started', runId: authorRun.id });
  tell.event({ type: 'worktree.create.started' });
  tell.event({
    type: 'worktree.create.completed',
    path: '/repo.worktrees/fix-the-parser',
    branch: 'refs/heads/tributary/fix-the-parser',
    base: base.commit,
  });
}

export function tellWork(tell: Teller): void {
  tell.entry({ type: 'user', content: [{ type: 'text', text: 'Fix the parser' }], origin: 'instruction' });
  tell.entry({ type: 'message.started', turn: 1 });
  tell.live({ type: 'text.delta', text: 'Let me' });
  tell.entry({ type: 'message.cut', turn: 1, partialText: 'Let me', reason: 'cutStream' });
  tell.entry({ type: 'retry', attempt: 1, code: 'overloaded', message: 'try later', waitMs: 2_000 });
  tell.entry({ type: 'message.started', turn: 1 });
  tell.live({ type: 'thinking.delta', text: 'Where is ' });
  tell.live({ type: 'thinking.delta', text: 'it?' });
  tell.live({ type: 'text.delta', text: 'I look at \u001b[31mthe' });
  tell.live({ type: 'text.delta', text: ' parser.' });
  const use = (id: string, name: string, input: unknown): object => ({ type: 'tool_use', id, name, input });
  tell.entry({
    type: 'message',
    turn: 1,
    model: 'model',
    content: [
      { type: 'text', text: 'I look at the parser.' },
      { type: 'tool_use', ...use('t1', 'Read', {}) },
    ],
    stopReason: 'tool_use',
  });
  tell.entry({
    type: 'tool.started',
    turn: 1,
    toolUseId: 't1',
    name: 'Read',
    input: { file_path: 'src/parse.ts' },
  });
  tell.entry({
    type: 'tool.ended',
    turn: 1,
    toolUseId: 't1',
    name: 'Read',
    content: '     1\texport function parse() {}\n     2\t',
    isError: false,
    durationMs: 3,
  });
  tell.entry({
    type: 'tool.started',
    turn: 1,
    toolUseId: 't2',
    name: 'Bash',
    input: { command: 'npm test\nrm x' },
    call: 1,
  });
  tell.entry({ type: 'question', questionId: 'q1', toolUseId: 't2', tool: 'Bash', command: 'npm test' });
  tell.entry({ type: 'answer', questionId: 'q1', allowed: true, by: 'user' });
  tell.live({ type: 'tool.output', toolUseId: 't2', text: '> test\n1 pas' });
  tell.live({ type: 'tool.output', toolUseId: 't2', text: 'sing\n\u001b]0;owned\u0007half a line' });
  tell.entry({
    type: 'tool.ended',
    turn: 1,
    toolUseId: 't2',
    name: 'Bash',
    content: '[call 1]\n> test\n1 passing',
    isError: false,
    exitCode: 0,
    durationMs: 1_234,
    call: 1,
  });
  tell.entry({
    type: 'tool.started',
    turn: 2,
    toolUseId: 't3',
    name: 'Edit',
    input: { file_path: '../x' },
  });
  tell.entry({
    type: 'tool.ended',
    turn: 2,
    toolUseId: 't3',
    name: 'Edit',
    content: [{ type: 'text', text: 'outside the worktree' }],
    isError: true,
    durationMs: 1,
  });
  tell.entry({ type: 'note', code: 'outOfScope', text: 'A command wrote outside the scope: docs/x' });
  tell.entry({ type: 'usage', turn: 2, usage });
  tell.event({ type: 'snapshot', runId: authorRun.id, turn: 2, commit, tree });
  tell.entry({ type: 'message.started', turn: 3 });
  tell.entry({
    type: 'message',
    turn: 3,
    model: 'model',
    content: [{ type: 'text', text: 'SUMMARY: done\u202e' }],
    stopReason: 'end_turn',
  });
  tell.event({
    type: 'run.ended',
    runId: authorRun.id,
    state: 'completed',
    reason: 'done',
    message: '',
    usage,
  });
}

export function tellVerification(tell: Teller): void {
  tell.event({
    type: 'run.created',
    runId: verifyRun.id,
    kind: 'verify',
    agent: 'verification',
    model: 'model',
  });
  tell.event({ type: 'run.started', runId: verifyRun.id });
  tell.event({
    type: 'run.ended',
    runId: verifyRun.id,
    state: 'completed',
    reason: 'done',
    message: '',
    usage,
  });
  tell.event({
    type: 'verdict',
    runId: verifyRun.id,
    verdict: failedVerdict.verdict,
    tree,
    checks: failedVerdict.checks,
    findings: failedVerdict.findings,
  });
}
