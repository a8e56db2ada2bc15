import { plainLine, plainText } from '../model/plainText';
import type { Provided, SetupCommand, SetupRecord, Sharing } from '../model/setup';
import { durationText } from './texts';

/** What stands before a command of a Worktree. */
export const phaseWords: Readonly<Record<'setup' | 'teardown', string>> = {
  setup: 'set-up',
  teardown: 'tear-down',
};

const sharingWords: Readonly<Record<Sharing, string>> = {
  copyOnWrite: 'copied on write',
  hardLinks: 'shared by hard links',
  link: 'linked',
};

/** A command, how it ended and how long it took; of one that failed the end of its output too. */
export function setupCommandText({ command, exitCode, reason, durationMs, output }: SetupCommand): string {
  const end = reason === 'timeout' ? 'timed out' : exitCode === null ? 'was ended' : `exit ${exitCode}`;
  const head = `${plainLine(command)} (${end}, ${durationText(durationMs)})`;
  if (exitCode === 0 || output === '') return head;
  return `${head}\n${plainText(output).replace(/^/gm, '    ')}`;
}

/** What a Worktree got of the checkout's ignored files, a row each. */
export function providedRows({ copied, shared, skipped }: Provided): string[] {
  const files = copied === 1 ? '1 ignored file copied' : `${copied} ignored files copied`;
  return [
    ...(copied === 0 ? [] : [files]),
    ...shared.map(({ path, how }) => `${plainLine(path)} ${sharingWords[how]}`),
    ...skipped.map(({ path, why }) => `${plainLine(path)} left out: ${plainLine(why)}`),
  ];
}

/** All that is known of a Worktree's set-up, as `show` has it. */
export function setupRows(setup: SetupRecord): string[] {
  const rows = (phase: keyof typeof phaseWords, commands: readonly SetupCommand[]): string[] =>
    commands.map((one) => `${phaseWords[phase]}: ${setupCommandText(one)}`);
  return [
    ...(setup.provided === undefined ? [] : providedRows(setup.provided)),
    ...rows('setup', setup.commands),
    ...(setup.current === undefined ? [] : [`set-up: ${plainLine(setup.current)} (running)`]),
    ...rows('teardown', setup.teardown ?? []),
  ];
}
