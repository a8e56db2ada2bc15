import { TributaryError } from '../../base/errors';
import type { ContentBlock } from '../../model/messages';
import type { AgentRole } from '../agentKit';
import type { ToolName } from '../tools/tool';
import common from './common.md';
import explore from './explore.md';
import general from './general.md';
import verification from './verification.md';

/** An agent that comes with the product. What it may do stands here, in code, and nowhere else. */
export interface Role extends AgentRole {
  readonly aliases: readonly string[];
  /** `inherit`: the parent's, main in a root. */
  readonly model: 'main' | 'small' | 'inherit';
  /** Judges a difference: gets it from the host, and cannot work on an empty one. */
  readonly judges: boolean;
  readonly prompt: string;
}

const silenceMs = 120_000;
/** Those who judge think long before they speak. */
const judgesSilenceMs = 900_000;

const reading: readonly ToolName[] = ['Read', 'Glob', 'Grep'];

export const roles: readonly Role[] = [
  {
    name: 'general',
    aliases: ['general-purpose', 'worker', 'default'],
    tools: [...reading, 'Write', 'Edit', 'Bash', 'TodoWrite', 'Diff'],
    canWrite: true,
    shell: 'any',
    model: 'main',
    silenceMs,
    wantsDocs: true,
    wantsGitStatus: true,
    judges: false,
    prompt: general,
  },
  {
    name: 'explore',
    aliases: ['explorer', 'exploration'],
    tools: [...reading, 'Bash', 'TodoWrite', 'Diff'],
    canWrite: false,
    shell: 'readOnly',
    model: 'small',
    silenceMs,
    wantsDocs: false,
    wantsGitStatus: false,
    judges: false,
    prompt: explore,
  },
  {
    name: 'verification',
    aliases: ['verifier', 'verify'],
    tools: [...reading, 'Bash', 'TodoWrite', 'Diff', 'ReportCheck', 'ReportFinding'],
    canWrite: false,
    shell: 'any',
    model: 'inherit',
    silenceMs: judgesSilenceMs,
    wantsDocs: true,
    wantsGitStatus: true,
    judges: true,
    prompt: verification,
  },
];

/** By name or alias, in any case. Throws `unknownAgent` with the names there are and those that are near. */
export function resolveRole(name: string): Role {
  const wanted = name.trim().toLowerCase();
  const found = roles.find((role) => namesOf(role).includes(wanted));
  if (found !== undefined) return found;
  const names = roles.map((role) => role.name);
  const near = nearMatches(wanted);
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  throw new TributaryError(
    'unknownAgent',
    `there is no agent "${name}": there are ${names.join(', ')}${hint}`,
    {
      details: { name, names, near },
    },
  );
}

/** The system prompt: the same bytes for every Run of the role, whatever its Task, folder or day. */
export function systemBlocks(role: Role): readonly ContentBlock[] {
  return [
    { type: 'text', text: common.trim() },
    { type: 'text', text: `Agent: ${role.name}\n\n${role.prompt.trim()}` },
  ];
}

function namesOf(role: Role): readonly string[] {
  return [role.name, ...role.aliases];
}

/** Roles one of whose names begins like the wanted one, or differs from it by at most two letters. */
function nearMatches(wanted: string): string[] {
  if (wanted === '') return [];
  return roles
    .filter((role) =>
      namesOf(role).some(
        (name) => name.startsWith(wanted) || wanted.startsWith(name) || editDistance(name, wanted) <= 2,
      ),
    )
    .map((role) => role.name);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const substituted = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(substituted, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
