import type { Variables } from './shellWords';

/** Where the agent may be, and what it has to stay out of. Absolute and real. */
export interface GuardPlaces {
  readonly root: string;
  readonly mainCheckout?: string;
  readonly commonDir: string;
  /** The environment of the command: variables in it are read when a word uses them. */
  readonly env: Readonly<Record<string, string>>;
}

/** What has been said so far in one shell: a subshell works on a copy. */
export interface ShellScope {
  /** `undefined` once it cannot be told any more. */
  cwd: string | undefined;
  readonly variables: Variables;
  /** Variables of unknown value whose text names git. */
  readonly gitVariables: Set<string>;
  /** Functions whose words may be run as a command. */
  readonly functions: Set<string>;
  /** Functions after whose call nobody knows the folder. */
  readonly movingFunctions: Set<string>;
  /** True where what a command prints goes into another one. */
  isCaptured: boolean;
}

export interface CommandFacts {
  readonly scope: ShellScope;
  /** What the command reads from its input, where that is known. */
  readonly input?: string | undefined;
  /** True behind xargs and the like, which add words that nobody sees here. */
  readonly isFed?: boolean;
}

/** What a rule may lean on: the places, and reading a text as a script of its own. */
export interface ScriptChecker {
  readonly places: GuardPlaces;
  /** The first reason to refuse, `undefined` when there is none. */
  script(text: string, scope: ShellScope): Promise<string | undefined>;
}

export function newScope(places: GuardPlaces): ShellScope {
  return {
    cwd: places.root,
    variables: new Map([...Object.entries(places.env), ['PWD', places.root], ['OLDPWD', undefined]]),
    gitVariables: new Set(),
    functions: new Set(),
    movingFunctions: new Set(),
    isCaptured: false,
  };
}

export function copyOf(scope: ShellScope): ShellScope {
  return {
    cwd: scope.cwd,
    variables: new Map(scope.variables),
    gitVariables: new Set(scope.gitVariables),
    functions: new Set(scope.functions),
    movingFunctions: new Set(scope.movingFunctions),
    isCaptured: scope.isCaptured,
  };
}
