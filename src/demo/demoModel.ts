import { type ContentBlock, type Message, type ToolUseBlock, textOf, toolUsesOf } from '../model/messages';
import { resumeInstruction } from '../model/run';
import { type DemoRequest, readSituation, resultsOf, resultText, type Situation } from './demoRequest';
import { noMoreScript, noPartFor, notAnObjective } from './honestAnswers';
import {
  type Condition,
  findPlaybook,
  type PlannedCall,
  type Playbook,
  type PlayValue,
  type Scene,
  type Step,
} from './playbook';

/** One whole assistant message. */
export interface DemoReply {
  readonly content: readonly ContentBlock[];
  readonly stopReason: 'end_turn' | 'tool_use';
}

/** What one call gave, as far as its text tells. */
interface CallResult {
  readonly text: string;
  readonly isError: boolean;
  readonly call?: number;
  readonly exitCode?: number;
  readonly captured: Readonly<Record<string, string>>;
}
type Results = ReadonlyMap<string, CallResult>;

/**
 * Decides the next message from the request alone: it walks the scene again along the results that the
 * conversation holds. So a Run may stop anywhere and go on in another process.
 */
export function demoReply(playbooks: readonly Playbook[], request: DemoRequest): DemoReply {
  const situation = readSituation(request);
  const playbook = findPlaybook(playbooks, situation.objective);
  if (playbook === undefined) return textReply(notAnObjective(playbooks, situation.agent));
  const scene = playbook.scenes.find((candidate) => isFor(candidate, situation));
  if (scene === undefined) return textReply(noPartFor(situation.agent, playbook));
  const place = walk(scene, request.messages);
  if (place === undefined) return textReply(noPartFor(situation.agent, playbook));
  const turn = request.messages.filter((message) => message.role === 'assistant').length;
  const said = filled(place.step.say, place.results);
  if (!place.isOver) return reply(said, place, turn);
  // A Run that was cut off right behind its answer is told to go on, and gives that answer.
  return textReply(isToldToGoOn(request.messages) ? said : noMoreScript(situation.agent));
}

function isFor(scene: Scene, { agent, isFix }: Situation): boolean {
  return scene.agents.includes(agent) && (scene.when === 'any' || (scene.when === 'fix') === isFix);
}

function isToldToGoOn(messages: readonly Message[]): boolean {
  return textOf(messages.at(-1)?.content ?? []).endsWith(resumeInstruction);
}

interface Place {
  readonly step: Step;
  readonly results: Results;
  /** The final answer was given before. */
  readonly isOver: boolean;
}

/** Where the scene stands; `undefined` when somebody else spoke in this conversation. */
function walk(scene: Scene, messages: readonly Message[]): Place | undefined {
  let step = scene.steps[0];
  const results = new Map<string, CallResult>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant' || step === undefined) continue;
    const uses = toolUsesOf(message.content);
    const planned: readonly PlannedCall[] = step.calls ?? [];
    if (uses.map((use) => use.name).join() !== planned.map((call) => call.name).join()) return undefined;
    if (planned.length === 0) return { step, results, isOver: true };
    if (take(planned, uses, messages[index + 1], results) === 'whole') step = nextStep(scene, step, results);
  }
  return step && { step, results, isOver: false };
}

/** Keeps the results of a step; a step that was interrupted is played again. */
function take(
  planned: readonly PlannedCall[],
  uses: readonly ToolUseBlock[],
  answer: Message | undefined,
  results: Map<string, CallResult>,
): 'whole' | 'interrupted' {
  const given = resultsOf(answer?.content ?? []);
  let isWhole = true;
  for (const [index, call] of planned.entries()) {
    const result = given.find((candidate) => candidate.tool_use_id === uses[index]?.id);
    const text = result === undefined ? '' : resultText(result);
    const isError = result?.is_error === true;
    if (isError && /^(?:interrupted; may have taken effect|not run)/.test(text)) isWhole = false;
    results.set(call.as ?? call.name, {
      ...numbersOf(text, isError),
      text,
      isError,
      captured: capturesOf(call, text),
    });
  }
  return isWhole ? 'whole' : 'interrupted';
}

/** `[call N]` and the exit code, told in the first or the last line; a command that tells none went well. */
function numbersOf(text: string, isError: boolean): { call?: number; exitCode?: number } {
  const call = /^\[call (\d+)\]/.exec(text)?.[1];
  if (call === undefined) return {};
  const lines = text.trimEnd().split('\n');
  const exits = [lines[0], lines.at(-1)].map(
    (line) => /\bexit(?:ed)?(?: with)?(?: code| status)?:? *(-?\d+)/i.exec(line ?? '')?.[1],
  );
  const exit = exits.find((code) => code !== undefined) ?? (isError ? undefined : '0');
  return { call: Number(call), ...(exit === undefined ? {} : { exitCode: Number(exit) }) };
}

function capturesOf(call: PlannedCall, text: string): Record<string, string> {
  const captured: Record<string, string> = {};
  for (const [field, expressions] of Object.entries(call.capture ?? {})) {
    const hits = expressions.map((expression) => new RegExp(expression, 'm').exec(text)?.[1]);
    const hit = hits.find((group) => group !== undefined);
    if (hit !== undefined) captured[field] = hit;
  }
  return captured;
}

function nextStep(scene: Scene, step: Step, results: Results): Step | undefined {
  const to = step.next?.find((branch) => branch.when === undefined || holds(branch.when, results))?.to;
  return scene.steps.find((candidate) => candidate.id === to);
}

function holds(condition: Condition, results: Results): boolean {
  const result = results.get(condition.result);
  if (result === undefined) return false;
  const { exitCode, isError, contains } = condition;
  const isExit =
    exitCode === undefined ||
    (exitCode === 'other'
      ? result.exitCode !== undefined && result.exitCode !== 0
      : result.exitCode === exitCode);
  return (
    isExit &&
    (isError === undefined || result.isError === isError) &&
    (contains === undefined || result.text.includes(contains))
  );
}

function reply(said: string, { step, results }: Place, turn: number): DemoReply {
  const calls = (step.calls ?? []).map((call, index) => ({
    type: 'tool_use',
    id: `toolu_demo_${turn + 1}_${index + 1}`,
    name: call.name,
    input: filledValue(call.input, results),
  }));
  const text = said.trim() === '' ? [] : [{ type: 'text', text: said }];
  return { content: [...text, ...calls], stopReason: calls.length > 0 ? 'tool_use' : 'end_turn' };
}

function textReply(text: string): DemoReply {
  return { content: [{ type: 'text', text }], stopReason: 'end_turn' };
}

function filledValue(value: PlayValue, results: Results): unknown {
  if (typeof value === 'string') return filled(value, results);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => filledValue(item, results));
  const from = value['$number'];
  if (typeof from === 'string') {
    const number = Number(fieldOf(from, results) ?? Number.NaN);
    return Number.isNaN(number) ? null : number;
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filledValue(item, results)]));
}

function isList(value: readonly PlayValue[] | object): value is readonly PlayValue[] {
  return Array.isArray(value);
}

function filled(text: string, results: Results): string {
  return text.replace(/\{\{(\w+\.\w+)\}\}/g, (_whole, path: string) => fieldOf(path, results) ?? '(unknown)');
}

/** Longest piece of a tool's output that a message repeats, in characters. */
const longestQuote = 600;

/** `name.call`, `name.exitCode`, `name.output` (without what the tool adds), or what was captured. */
function fieldOf(path: string, results: Results): string | undefined {
  const [name = '', field = ''] = path.split('.');
  const result = results.get(name);
  if (result === undefined) return undefined;
  if (field === 'call') return result.call?.toString();
  if (field === 'exitCode') return result.exitCode?.toString();
  if (field === 'output') return outputOf(result.text).slice(0, longestQuote);
  return result.captured[field];
}

function outputOf(text: string): string {
  return text
    .replace(/^\[call[^\n]*\n?/, '')
    .replace(/\n?\[(?:exit code|signal|timed out|not run)[^\n]*\]\s*$/, '')
    .trim();
}
