import type { AcceptanceTest } from '../model/packet';
import type { Check, Verdict } from '../model/verdict';
import type { RunCommand } from '../process/runCommand';
import { runChecks } from './checks';
import { judge } from './judge';

/** A command that the verifier's Run really ran, read from its transcript. */
export interface ObservedCommand {
  readonly call: number;
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;
}

/** What a verifier claimed by its tools. */
export interface ClaimedCheck {
  readonly title: string;
  readonly command: string;
  readonly call?: number;
  readonly exitCode: number | null;
  readonly observed: string;
  readonly result: 'pass' | 'fail' | 'skip';
}

export interface ClaimedFinding {
  readonly path?: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly title: string;
  readonly detail: string;
  readonly call?: number;
}

export interface JudgeInput {
  readonly runId: string;
  readonly tree: string;
  readonly at: string;
  /** Absent: no verifier ran, the host's checks alone decide. */
  readonly verifier?: {
    readonly answer: string;
    readonly checks: readonly ClaimedCheck[];
    readonly findings: readonly ClaimedFinding[];
    readonly commands: readonly ObservedCommand[];
    /** Recorded files that the verifier changed or deleted: they void the Verdict. */
    readonly tampered: readonly string[];
  };
  readonly hostChecks: readonly Check[];
  /** Acceptance tests and the project's bare suite commands: context, not the verifier's own evidence. */
  readonly suiteCommands: readonly string[];
  /** Every path of the tree, to tell a real file from a phantom. */
  readonly files: ReadonlySet<string>;
  readonly worktreeRoot: string;
}

/** Runs the host's own Checks and turns a verifier's claims into a Verdict bound to a tree and to evidence. */
export interface Verifier {
  runChecks(request: {
    tests: readonly AcceptanceTest[];
    root: string;
    env: Readonly<Record<string, string>>;
    signal: AbortSignal;
    outDirectory: string;
    onOutput?: (text: string) => void;
    /** Runs each command. */
    around?: <T>(command: string, body: () => Promise<T>) => Promise<T>;
  }): Promise<readonly Check[]>;
  judge(input: JudgeInput): Verdict;
}

export interface VerifierDeps {
  readonly runCommand: RunCommand;
}

export function createVerifier(deps: VerifierDeps): Verifier {
  return { runChecks: (request) => runChecks(deps.runCommand, request), judge };
}
