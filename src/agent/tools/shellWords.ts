import type { ParsedScript, SyntaxNode, Word, WordPart } from 'unbash';

/** A word of a command as far as it can be known without running it. */
export interface Argument {
  /** What it comes to; `undefined` when only a shell could tell. */
  readonly text: string | undefined;
  /** As it was written. */
  readonly raw: string;
  /** False when quotes or a backslash kept the shell from reading `~` at its start. */
  readonly isTildeLive: boolean;
}

/** Variables whose value is known; one that was set to something unknown is there with `undefined`. */
export type Variables = Map<string, string | undefined>;

export interface ShellParser {
  parse(text: string): ParsedScript;
  childrenOf(node: SyntaxNode): SyntaxNode[];
}

let parser: Promise<ShellParser> | undefined;

/** Loaded at the first command only: it is 100 KB that a session without commands does not need. */
export function loadShellParser(): Promise<ShellParser> {
  parser ??= import('unbash').then(({ parse, forEachChild }) => ({
    parse,
    childrenOf: (node) => {
      const children: SyntaxNode[] = [];
      forEachChild(node, (child) => children.push(child));
      return children;
    },
  }));
  return parser;
}

/** A word as the arguments it becomes: an unquoted variable may become several, or none. */
export function expandWord(word: Word, variables: Variables): Argument[] {
  const isTildeLive = word.text.startsWith('~');
  if (!word.parts) return [{ text: word.value, raw: word.text, isTildeLive }];
  const text = partsText(word.parts, variables);
  if (text === undefined) return [{ text: undefined, raw: word.text, isTildeLive }];
  const isBareVariable = word.parts.length === 1 && isExpansion(word.parts[0]);
  if (!isBareVariable) return [{ text, raw: word.text, isTildeLive }];
  const pieces = text.split(/\s+/).filter((piece) => piece !== '');
  return pieces.map((piece) => ({ text: piece, raw: word.text, isTildeLive: false }));
}

function isExpansion(part: WordPart | undefined): boolean {
  return part?.type === 'SimpleExpansion' || part?.type === 'ParameterExpansion';
}

function partsText(parts: readonly WordPart[], variables: Variables): string | undefined {
  let text = '';
  for (const part of parts) {
    const more = partText(part, variables);
    if (more === undefined) return undefined;
    text += more;
  }
  return text;
}

function partText(part: WordPart, variables: Variables): string | undefined {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted':
    case 'LocaleString':
      return partsText(part.parts, variables);
    case 'SimpleExpansion':
      return variables.get(part.text.slice(1));
    case 'ParameterExpansion': {
      const isPlain = !part.operation && part.prefix === undefined && !part.index;
      return isPlain ? variables.get(part.parameter) : undefined;
    }
    default:
      // Globs, braces, substitutions: what they become depends on files and other commands.
      return undefined;
  }
}
