import { sameText } from './commands';
import { markdownLines } from './markdownLines';
import type { ObservedCommand } from './verifier';

/** A check read out of prose. `exitCode` absent: the text says none, so none can be wrong. */
export interface TextClaim {
  readonly title: string;
  readonly command: string;
  readonly exitCode?: number;
  readonly result?: 'pass' | 'fail' | 'skip';
}

/** Claims read at most; text beyond is no honest report. */
const mostClaims = 100;

/**
 * Reads claimed commands out of an answer, for agents that do not report by tool: `$ command` and
 * `Command run: command` lines, fenced or not, and code spans that are followed by an exit code or are the
 * text of a command that ran. A `Result:` or `Exit code:` line after them belongs to the last command.
 */
export function parseClaims(text: string, commands: readonly ObservedCommand[]): TextClaim[] {
  const ran = new Set(commands.map((command) => sameText(command.command)));
  const claims: TextClaim[] = [];
  let isCommandNext = false;
  for (const { text: line } of markdownLines(text)) {
    if (claims.length >= mostClaims) break;
    const told = line.replace(/[*_]{2}/g, '').trim();
    const onLine = commandsOn(told, ran, isCommandNext);
    claims.push(...onLine);
    if (onLine.length > 0) isCommandNext = false;
    else if (/^[-\s]*commands? run:\s*$/i.test(told)) isCommandNext = true;
    const last = claims.at(-1);
    if (last !== undefined && onLine.length === 0) claims[claims.length - 1] = { ...last, ...factsOf(told) };
  }
  return claims;
}

function commandsOn(line: string, ran: ReadonlySet<string>, isCommandNext: boolean): TextClaim[] {
  const prompt = /^(?:[-*]\s+)?(?:\$ |(?:commands? run|command|ran):\s*)(.+)$/i.exec(line)?.[1];
  const bare = isCommandNext && !/^(?:```|~~~|$)/.test(line) ? line : undefined;
  const direct = prompt ?? bare;
  if (direct !== undefined && !direct.includes('`')) return [{ title: direct, command: direct.trim() }];
  const claims: TextClaim[] = [];
  const spans = [...line.matchAll(/(`+)([^`]+)\1/g)];
  for (const [index, span] of spans.entries()) {
    const command = (span[2] ?? '').trim();
    const rest = line.slice(span.index + span[0].length, spans[index + 1]?.index);
    const facts = factsOf(rest, /exit|→|->|:/);
    const isClaim = ran.has(sameText(command)) || direct !== undefined || facts.exitCode !== undefined;
    if (isClaim && /[A-Za-z]/.test(command)) claims.push({ title: line.slice(0, 200), command, ...facts });
  }
  return claims;
}

/** An exit code and a result, when the text says so in plain words. */
function factsOf(text: string, needed?: RegExp): Pick<TextClaim, 'exitCode' | 'result'> {
  if (needed !== undefined && !needed.test(text)) return {};
  const code =
    /\bexit(?:ed|s)?(?:[ _-]?(?:code|status))?(?: was| is| with)?(?: code| status)?\s*[:=(]?\s*(\d{1,3})\b/i.exec(
      text,
    )?.[1];
  const word = /^[-\s]*result\s*:\s*(pass|fail|skip)/i.exec(text)?.[1]?.toLowerCase();
  const result = word === 'pass' || word === 'fail' || word === 'skip' ? word : undefined;
  return {
    ...(code === undefined ? {} : { exitCode: Number(code) }),
    ...(result === undefined ? {} : { result }),
  };
}
