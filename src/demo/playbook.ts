/** Plain data, so that a playbook could be written to a file and read back the same. */
export type PlayValue =
  | string
  | number
  | boolean
  | null
  | readonly PlayValue[]
  | { readonly [name: string]: PlayValue };

/**
 * One call of a tool. Strings in `input` may hold `{{name.field}}`, filled from an earlier result; a value
 * `{ $number: 'name.field' }` becomes a number, or null where the result has none.
 */
export interface PlannedCall {
  readonly name: string;
  /** What later steps call its result; default the tool's name. */
  readonly as?: string;
  readonly input: { readonly [name: string]: PlayValue };
  /** Field name to expressions tried on the result's text in order; the first group of the first hit is kept. */
  readonly capture?: { readonly [field: string]: readonly string[] };
}

/** True when every field that is given holds of the named result. */
export interface Condition {
  readonly result: string;
  /** `other`: it ended, but not with 0. */
  readonly exitCode?: number | 'other';
  readonly isError?: boolean;
  readonly contains?: string;
}

export interface Branch {
  readonly when?: Condition;
  readonly to: string;
}

/** One assistant message. Without calls it is the final answer. */
export interface Step {
  readonly id: string;
  readonly say: string;
  readonly calls?: readonly PlannedCall[];
  /** Tried in order on what the calls really gave; the last has no condition. */
  readonly next?: readonly Branch[];
}

/** What one agent does in one situation; begins with its first step. */
export interface Scene {
  readonly agents: readonly string[];
  /** `fix`: a Run that got findings to mend; `other`: any other; `any`: both. */
  readonly when: 'fix' | 'other' | 'any';
  readonly steps: readonly Step[];
}

/** Everything the demo model knows of one objective. */
export interface Playbook {
  readonly id: string;
  readonly objective: string;
  readonly scenes: readonly Scene[];
}

/** The name under which requests ask for it, and how people read it. */
export { demoModelName } from '../model/settings';
export const demoModelTitle = 'Demo model, scripted';

/** Objectives are equal when they differ in white space, letter case or a last full stop only. */
export function normalObjective(text: string): string {
  return text.trim().replace(/\s+/g, ' ').replace(/\.$/, '').toLowerCase();
}

export function findPlaybook(playbooks: readonly Playbook[], objective: string): Playbook | undefined {
  const wanted = normalObjective(objective);
  return playbooks.find((playbook) => normalObjective(playbook.objective) === wanted);
}

/** What is wrong with a playbook, one sentence each: a step that leads nowhere, a name used twice. */
export function playbookProblems(playbook: Playbook): string[] {
  return playbook.scenes.flatMap((scene, index) => {
    const ids = scene.steps.map((step) => step.id);
    const problems = ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `step "${id}" stands twice`);
    if (ids.length === 0) problems.push('it has no step');
    for (const step of scene.steps) problems.push(...stepProblems(step, ids));
    return problems.map((problem) => `${playbook.id}, scene ${index + 1}: ${problem}`);
  });
}

function stepProblems(step: Step, ids: readonly string[]): string[] {
  const problems: string[] = [];
  const branches = step.next ?? [];
  const hasCalls = (step.calls ?? []).length > 0;
  if (hasCalls && branches.at(-1)?.when !== undefined) problems.push(`step "${step.id}" may lead nowhere`);
  if (hasCalls && branches.length === 0) problems.push(`step "${step.id}" leads nowhere`);
  if (!hasCalls && branches.length > 0) problems.push(`step "${step.id}" goes on without a call`);
  if (!hasCalls && step.say.trim() === '') problems.push(`step "${step.id}" says nothing`);
  for (const { to } of branches) {
    if (!ids.includes(to)) problems.push(`step "${step.id}" leads to "${to}", which is missing`);
  }
  return problems;
}
