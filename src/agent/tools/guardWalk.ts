import type {
  Assignment,
  Command,
  Function as FunctionNode,
  ParameterExpansionPart,
  ParsedScript,
  Pipeline,
  Redirection,
  SyntaxNode,
} from 'unbash';
import { checkCommand, fedRefusal } from './commandRules';
import { assignmentRefusal, foreignPathRefusal } from './guardPaths';
import { copyOf, type GuardPlaces, newScope, type ScriptChecker, type ShellScope } from './guardScope';
import { outsideRefusal } from './pathEffects';
import { type Argument, expandWord, type ShellParser } from './shellWords';

const maxDepth = 30;

/** One walk over everything a parser sees in a command; the first reason to refuse ends it. */
export class GuardWalk implements ScriptChecker {
  private readonly parser: ShellParser;
  readonly places: GuardPlaces;
  private depth = 0;

  constructor(parser: ShellParser, places: GuardPlaces) {
    this.parser = parser;
    this.places = places;
  }

  async check(text: string): Promise<string | undefined> {
    return this.script(text, newScope(this.places));
  }

  /** Reads `text` as a script of its own that runs in `scope`. */
  async script(text: string, scope: ShellScope): Promise<string | undefined> {
    return this.visit(this.parser.parse(text), scope);
  }

  private async visit(node: SyntaxNode, scope: ShellScope): Promise<string | undefined> {
    if (this.depth > maxDepth)
      return 'the command is nested too deeply to be read. Put it into a script file.';
    this.depth++;
    try {
      return await this.visitOne(node, scope);
    } finally {
      this.depth--;
    }
  }

  private async visitOne(node: SyntaxNode, scope: ShellScope): Promise<string | undefined> {
    switch (node.type) {
      case 'Script':
        return parseProblem(node) ?? (await this.visitChildren(node, scope));
      case 'Command':
        return this.visitCommand(node, scope);
      case 'Pipeline':
        return this.visitPipeline(node, scope);
      case 'Function':
        return this.visitFunction(node, scope);
      case 'Subshell':
        return this.visitChildren(node, copyOf(scope));
      case 'CommandExpansion':
      case 'ArithmeticCommandExpansion':
      case 'ProcessSubstitution':
      case 'Coproc':
        return this.visitChildren(node, { ...copyOf(scope), isCaptured: true });
      case 'ParameterExpansion':
        return (await this.assignByDefault(node, scope)) ?? this.visitChildren(node, scope);
      case 'For':
      case 'Select':
        scope.variables.set(node.name.value, undefined);
        return this.visitLoop(node, scope);
      case 'While':
      case 'ArithmeticFor':
        return this.visitLoop(node, scope);
      default:
        return this.visitChildren(node, scope);
    }
  }

  private async visitChildren(node: SyntaxNode, scope: ShellScope): Promise<string | undefined> {
    for (const child of this.parser.childrenOf(node)) {
      const reason = await this.visit(child, scope);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** A body that moves is read again from a folder nobody knows: that is where its next round starts. */
  private async visitLoop(node: SyntaxNode, scope: ShellScope): Promise<string | undefined> {
    const before = scope.cwd;
    const reason = await this.visitChildren(node, scope);
    if (reason !== undefined || scope.cwd === before) return reason;
    scope.cwd = undefined;
    return this.visitChildren(node, scope);
  }

  private async visitFunction(node: FunctionNode, scope: ShellScope): Promise<string | undefined> {
    const name = node.name.value;
    if (/^(git|cd|pushd)$/.test(name)) return `a function must not stand in for ${name}.`;
    const inner = copyOf(scope);
    const reason = await this.visitChildren(node, inner);
    scope.functions.add(name);
    if (inner.cwd !== scope.cwd) scope.movingFunctions.add(name);
    return reason;
  }

  private async visitCommand(command: Command, scope: ShellScope): Promise<string | undefined> {
    const nested = await this.visitChildren(command, scope);
    if (nested !== undefined) return nested;
    for (const part of command.prefix) {
      const reason = part.type === 'Assignment' ? await this.assign(part, scope) : undefined;
      if (reason !== undefined) return reason;
    }
    if (!command.name) return undefined;
    scope.variables.set('PWD', scope.cwd);
    const argv = [...expandWord(command.name, scope.variables)];
    for (const arg of command.args) argv.push(...this.argumentsOf(arg, scope));
    const targets = targetsOf(command.redirects, scope);
    const written = targetsOf(command.redirects.filter(isWritten), scope);
    const reason =
      (await foreignPathRefusal([...argv, ...targets], scope, this.places)) ??
      (await outsideRefusal(written, { what: 'writing to', scope }, this.places)) ??
      (await checkCommand(this, argv, { scope, input: inputText(command.redirects, scope) }));
    return reason;
  }

  private argumentsOf(arg: Command['args'][number], scope: ShellScope): Argument[] {
    if (arg.type === 'Word') return expandWord(arg, scope.variables);
    const value = arg.value.type === 'Word' ? expandWord(arg.value, scope.variables)[0]?.text : undefined;
    const text = value === undefined ? undefined : `${arg.name}=${value}`;
    return [{ text, raw: arg.text, isTildeLive: false }];
  }

  private async assign(node: Assignment, scope: ShellScope): Promise<string | undefined> {
    const words = node.value.type === 'Word' ? expandWord(node.value, scope.variables) : [];
    // An assignment is not split into words.
    const isKnown = words.length > 0 && words.every((word) => word.text !== undefined);
    const isSimple = node.value.type === 'Word' && !node.append && !node.index;
    const value = isKnown ? words.map((word) => word.text).join(' ') : undefined;
    const isEmpty = node.value.type === 'Word' && node.value.text === '';
    const known = isSimple ? (isEmpty ? '' : value) : undefined;
    scope.variables.set(node.name, known);
    if (known === undefined && /\bgit\b/i.test(node.text)) scope.gitVariables.add(node.name);
    return assignmentRefusal(this, { name: node.name, value: isEmpty ? '' : value }, scope);
  }

  /** `${X:=value}` sets X too. */
  private async assignByDefault(
    node: ParameterExpansionPart,
    scope: ShellScope,
  ): Promise<string | undefined> {
    const { operation, parameter } = node;
    if (operation?.type !== 'Default' || !operation.operator.endsWith('=')) return undefined;
    scope.variables.set(parameter, undefined);
    return assignmentRefusal(this, { name: parameter, value: undefined }, scope);
  }

  /** Every part of a pipe is a shell of its own; what is echoed into a shell is read as its script. */
  private async visitPipeline(node: Pipeline, scope: ShellScope): Promise<string | undefined> {
    let before: Fed = { argv: [] };
    for (const [index, part] of node.commands.entries()) {
      const own = copyOf(scope);
      if (index < node.commands.length - 1) own.isCaptured = true;
      const reason = await this.visit(part, own);
      if (reason !== undefined) return reason;
      const argv = simpleWords(part, own);
      const fedReason = argv.length > 0 ? await this.fed(before, argv, own) : undefined;
      if (fedReason !== undefined) return fedReason;
      const text = part.type === 'Command' ? inputText(part.redirects, own) : undefined;
      before = text === undefined ? { argv } : { argv, text };
    }
    return undefined;
  }

  private async fed(
    { argv: before, text }: Fed,
    argv: readonly Argument[],
    scope: ShellScope,
  ): Promise<string | undefined> {
    const reason = await fedRefusal(this, before, { argv, scope });
    if (reason !== undefined) return reason;
    const isEcho = /^(echo|printf)$/.test(before[0]?.text ?? '');
    const echoed = isEcho
      ? before
          .slice(1)
          .map((arg) => arg.text ?? arg.raw)
          .join(' ')
      : undefined;
    const input = echoed ?? text;
    return input === undefined ? undefined : checkCommand(this, argv, { scope, input });
  }
}

/** One part of a pipe, as far as the next one may run it. */
interface Fed {
  readonly argv: readonly Argument[];
  /** What it read itself from a here-document, and may only pass on. */
  readonly text?: string;
}

function simpleWords(part: SyntaxNode, scope: ShellScope): Argument[] {
  if (part.type !== 'Command' || !part.name) return [];
  return [part.name, ...part.args].flatMap((arg) =>
    arg.type === 'Word' ? expandWord(arg, scope.variables) : [],
  );
}

function isWritten(redirect: Redirection): boolean {
  return redirect.type === 'Redirect' && redirect.operator.includes('>');
}

function parseProblem(script: ParsedScript): string | undefined {
  const [first] = script.errors ?? [];
  if (!first) return undefined;
  return `the command cannot be read (${first.message} at character ${first.pos + 1}). Correct it, or put it into a script file.`;
}

/** What stands in a here-document or here-string, where a shell would read its script from. */
function inputText(redirects: readonly Redirection[], scope: ShellScope): string | undefined {
  const texts = redirects.flatMap((redirect) => {
    if (redirect.type === 'HereDoc') return [redirect.body.text];
    if (redirect.type !== 'HereString' || !redirect.target) return [];
    return expandWord(redirect.target, scope.variables).map((word) => word.text ?? word.raw);
  });
  return texts.length > 0 ? texts.join('\n') : undefined;
}

function targetsOf(redirects: readonly Redirection[], scope: ShellScope): Argument[] {
  return redirects.flatMap((redirect) =>
    redirect.type === 'Redirect' && redirect.target ? expandWord(redirect.target, scope.variables) : [],
  );
}
