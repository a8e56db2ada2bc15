import { TributaryError } from '../../base/errors';
import type { ContentBlock } from '../../model/messages';
import { type AcceptanceTest, baseText, type TaskPacket } from '../../model/packet';
import type { Assembled, AssembleRequest } from '../agentKit';
import { paramsFor } from '../modelTable';
import { type Role, systemBlocks } from '../roles/roles';

/** Characters of a difference told at once; the `Diff` tool has the rest. */
const longestPatch = 100_000;
const mostFiles = 500;

/**
 * What a fresh Run sends first. System and tools are the same for every Run of a role, so that they are read
 * from the cache; the project's docs come next, equal for Tasks of one base; then what only this Run has.
 * Throws `wrongState` when a judge has no difference to judge.
 */
export function assemble(request: AssembleRequest, role: Role, maxTokens: number): Assembled {
  if (role.judges && (request.diff?.patch ?? '').trim() === '') {
    throw new TributaryError('wrongState', 'there is no difference to judge');
  }
  const texts = [
    role.wantsDocs ? section('project_docs', request.docs) : undefined,
    section('environment', environment(request)),
    role.wantsGitStatus ? section('git_status', request.gitStatus) : undefined,
    section('task', task(request.packet)),
    request.diff === undefined ? undefined : difference(request.diff),
    instruction(request),
  ];
  return {
    system: systemBlocks(role),
    params: paramsFor(request.model, maxTokens),
    message: texts.flatMap((text): ContentBlock[] => (text === undefined ? [] : [{ type: 'text', text }])),
  };
}

/** Tells an agent which of several checkouts of a repository is its own. */
export function worktreeNotice(place: AssembleRequest['place'], mainRoot: string): string {
  if (!place.isWorktree) {
    return `You read in the user's own checkout, ${place.directory}. You change nothing there.`;
  }
  return (
    `Your folder, ${place.directory}, is a git worktree made for this task alone: a whole checkout, in which ` +
    `files that git ignores may be missing (installed packages, build output, local settings). ` +
    `The user's own checkout, ${mainRoot}, is off limits: a path from there means the same path here.`
  );
}

function environment(request: AssembleRequest): string {
  const { place, packet, today, platform } = request;
  const { base, root } = packet.repository;
  const lines = [
    `Folder: ${place.directory}`,
    ...(place.branch === undefined ? [] : [`Branch: ${place.branch.replace(/^refs\/heads\//, '')}`]),
    `Base: ${baseText(base)} (${base.commit.slice(0, 12)})${behind(base.behind)}`,
    `Platform: ${platform}`,
    `Date: ${today}`,
    '',
    worktreeNotice(place, root),
  ];
  return lines.join('\n');
}

function behind(commits: number | undefined): string {
  return commits === undefined || commits === 0 ? '' : `, ${commits} commits behind its upstream`;
}

function task(packet: TaskPacket): string {
  const lines = [
    `Objective: ${packet.objective}`,
    '',
    `Scope (paths you may change): ${packet.scope.join(', ')}`,
  ];
  if (packet.acceptanceTests.length > 0) {
    lines.push('', 'Acceptance tests, which are run again after you:');
    lines.push(...packet.acceptanceTests.map(acceptanceTest));
  }
  return lines.join('\n');
}

function acceptanceTest({ command, cwd, expectedExitCode }: AcceptanceTest): string {
  const where = cwd === '.' ? '' : ` in ${cwd}`;
  const expected = expectedExitCode === 0 ? '' : ` (exit code ${expectedExitCode} expected)`;
  return `- ${command}${where}${expected}`;
}

function difference({ patch, files }: NonNullable<AssembleRequest['diff']>): string {
  const listed = files.slice(0, mostFiles).map((file) => `- ${file}`);
  const more = files.length > mostFiles ? [`- and ${files.length - mostFiles} more`] : [];
  const isLong = patch.length > longestPatch;
  const shown = isLong ? patch.slice(0, longestPatch) : patch;
  const rest = isLong ? '\n(The difference is longer. Read the rest with the Diff tool, file by file.)' : '';
  return (
    `Changed files:\n${[...listed, ...more].join('\n')}\n\n` +
    `The difference from the base, made by the host:\n${section('difference', shown) ?? ''}${rest}`
  );
}

/** The objective already stands above; it is not said twice. */
function instruction({ instruction: text, packet, kind }: AssembleRequest): string {
  const said = text.trim();
  const isSaid = said === '' || said === packet.objective.trim();
  return `Run kind: ${kind}\n\n${isSaid ? 'Begin.' : said}`;
}

/** Text between tags that do not occur in it, so that nothing inside can end it. */
function section(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  let tag = name;
  for (let number = 2; text.includes(`</${tag}>`); number += 1) tag = `${name}_${number}`;
  return `<${tag}>\n${text.trimEnd()}\n</${tag}>`;
}
