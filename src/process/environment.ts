/** Of git's variables only those that say how to reach a server or which configuration to read. */
const keptGit =
  /^GIT_(CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM|SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_[A-Z_]+)$/;

/** Ours, the models', the editor's own. Compared in upper case: Windows does not tell cases apart. */
const droppedNames = [
  /^GIT_/,
  /^(ANTHROPIC|CLAUDE_CODE|TRIBUTARY)_/,
  /^CLAUDECODE$/,
  /^(OPENAI|AZURE_OPENAI|OPENROUTER|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|MISTRAL|GROQ|XAI|DEEPSEEK|COHERE|CO|TOGETHER|FIREWORKS|PERPLEXITY|CEREBRAS|MOONSHOT|DASHSCOPE|ZAI|REPLICATE)_API_(KEY|TOKEN)$/,
  /^AWS_BEARER_TOKEN_BEDROCK$/,
  /^(ELECTRON|VSCODE)_/,
  // Read by shells before the first word of a command, or standing in front of one.
  /^(BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|CDPATH)$/,
  /^BASH_FUNC_/,
];

const noPrompts: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  EDITOR: ':',
  VISUAL: ':',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_MERGE_AUTOEDIT: 'no',
  GIT_TERMINAL_PROMPT: '0',
};

/**
 * The environment of a command. Rule: out goes every `ANTHROPIC_*`, `CLAUDE_CODE_*` and `TRIBUTARY_*`, the
 * API keys of model vendors, any variable that holds the value of one of these keys or of `secrets`,
 * `ELECTRON_*`, `VSCODE_*` and the editor's `NODE_OPTIONS`, what shells read at their start, and `GIT_*` but
 * `GIT_CONFIG_GLOBAL/SYSTEM/NOSYSTEM`, `GIT_SSH*`, `GIT_ASKPASS`, `GIT_SSL_*`. The rest stays, so that the
 * user's tools (and their tokens) work. No pager, no editor, no prompt; `extra` is laid over everything.
 */
export function scrubbedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>> = {},
  secrets: readonly string[] = [],
): Record<string, string> {
  const keys = Object.entries(env).flatMap(([name, value]) => (value && isKeyName(name) ? [value] : []));
  // A short one would be found in any path.
  const values = [...secrets, ...keys].filter((secret) => secret.length >= 8);
  const isInEditor = Object.keys(env).some((name) => /^(VSCODE|ELECTRON)_/i.test(name));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isDropped(name.toUpperCase(), isInEditor)) continue;
    if (values.some((secret) => value.includes(secret))) continue;
    kept[name] = value;
  }
  return { ...kept, ...noPrompts, ...extra };
}

function isDropped(name: string, isInEditor: boolean): boolean {
  if (keptGit.test(name)) {
    // The editor's askpass speaks to the editor through variables that are gone here.
    return name === 'GIT_ASKPASS' && isInEditor;
  }
  if (name === 'NODE_OPTIONS') return isInEditor;
  return droppedNames.some((pattern) => pattern.test(name));
}

/** Names whose values are secrets wherever else they stand. */
function isKeyName(name: string): boolean {
  return /^(ANTHROPIC|CLAUDE_CODE|TRIBUTARY)_.*(KEY|TOKEN|SECRET)/i.test(name) && !/TOKENS/i.test(name);
}
