import { plainLine } from '../model/plainText';
import type { Run } from '../model/run';
import { demoModelName } from '../model/settings';
import { currentVerdict, type Task } from '../model/task';
import type { VerdictWord } from '../model/verdict';
import { isLive } from '../tasks/runMachine';
import { mendable } from '../tasks/verification';

/** A Task as the JSON of the command line shows it: what a script needs, without transcripts' size. */
export function taskData(task: Task): Readonly<Record<string, unknown>> {
  const verdict = currentVerdict(task);
  return {
    id: task.id,
    slug: task.slug,
    state: task.state,
    objective: task.packet.objective,
    agent: task.agent,
    base: task.packet.repository.base,
    branch: task.branch,
    worktreePath: task.worktreePath,
    setup: task.setup,
    createdAt: task.createdAt,
    changedAt: task.changedAt,
    endedAt: task.endedAt,
    expiredAt: task.expiredAt,
    snapshot: task.snapshot,
    mergedIn: task.movedBases.at(-1),
    unresolved: task.unresolved,
    keptBranch: task.keptBranch,
    verdict: verdict?.verdict,
    verdictTree: verdict?.tree,
    messages: task.messages,
    ...(task.alarms.length === 0 ? {} : { alarms: task.alarms }),
    landings: task.landings,
    ...(task.cutOff === undefined ? {} : { cutOff: task.cutOff }),
    runs: task.runs.map(runData),
  };
}

function runData(run: Run): Readonly<Record<string, unknown>> {
  const { status } = run;
  return {
    id: run.id,
    kind: run.kind,
    agent: run.agent,
    model: run.model,
    state: status.state,
    ...('end' in status ? { reason: status.end.reason, message: status.end.message } : {}),
    usage: run.usage,
  };
}

const agentVerbs: ReadonlySet<string> = new Set(['resume', 'verify', 'fix', 'resolve']);

/** One command line on a Task. */
export function stepLine(task: Task, verb: string): string {
  // The demo's Tasks go on with the demo: no key would know its conversations.
  const isDemo = task.runs.some((run) => run.model === demoModelName);
  return `tributary ${verb} ${plainLine(task.slug)}${isDemo && agentVerbs.has(verb) ? ' --demo' : ''}`;
}

/** The command lines that make sense now, most likely one first. */
export function nextSteps(task: Task): string[] {
  const line = (verb: string): string => stepLine(task, verb);
  if (task.runs.some(isLive)) return [line('stop')];
  // Nothing of it is left that could come back.
  if (task.expiredAt !== undefined) return [];
  switch (task.state) {
    case 'accepted':
      return [line('undo')];
    case 'discarded':
      return [line('restore')];
    case 'closed':
      return [line('restore')];
    case 'open':
      return openSteps(task).map(line);
  }
}

/** PARTIAL and none are no judgement to leave it at. */
function needsVerifying(word: VerdictWord | undefined): boolean {
  return word === undefined || word === 'PARTIAL' || word === 'none';
}

function openSteps(task: Task): string[] {
  const lastState = task.runs.at(-1)?.status.state;
  const isCut = lastState === 'stopped' || lastState === 'failed' || lastState === 'interrupted';
  const verdict = currentVerdict(task);
  return [
    ...(isCut ? ['resume'] : []),
    ...(task.snapshot === undefined ? [] : ['diff']),
    ...(mendable(task) !== undefined ? ['fix'] : []),
    ...(task.snapshot !== undefined && needsVerifying(verdict?.verdict) ? ['verify'] : []),
    ...(task.snapshot === undefined ? [] : ['accept']),
    ...(task.landings.some(({ undoneAt }) => undoneAt === undefined) ? ['undo'] : []),
    'discard',
  ];
}
