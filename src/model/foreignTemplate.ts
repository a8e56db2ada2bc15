/** A command with its template variables filled in as variables of the shell, or why that cannot be done. */
export type Filled =
  | { readonly kind: 'filled'; readonly command: string }
  | { readonly kind: 'refused'; readonly why: string };

/** The variables of a set-up command that say the same. */
const variables: Readonly<Record<string, string>> = {
  branch: 'TRIBUTARY_BRANCH',
  worktree: 'TRIBUTARY_WORKTREE_PATH',
  worktree_path: 'TRIBUTARY_WORKTREE_PATH',
  repo_root: 'TRIBUTARY_ROOT_PATH',
  repo_path: 'TRIBUTARY_ROOT_PATH',
  main_worktree: 'TRIBUTARY_ROOT_PATH',
  primary_worktree_path: 'TRIBUTARY_ROOT_PATH',
  repo: 'TRIBUTARY_ROOT_PATH##*/',
};

const template = /\{\{([\s\S]*?)\}\}|\{[%#]/g;

/** Fills `{{ name }}`, whatever stands around it; filters, blocks and names that we do not know are refused. */
export function filledTemplate(command: string): Filled {
  let filled = '';
  let at = 0;
  for (const match of command.matchAll(template)) {
    const name = match[1]?.trim();
    if (name === undefined) return { kind: 'refused', why: 'a template block' };
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (variable === undefined) return { kind: 'refused', why: `{{ ${name} }} is not known here` };
    const around = quoteAt(command.slice(0, match.index));
    if (around === "'") return { kind: 'refused', why: `{{ ${name} }} stands in single quotes` };
    filled += `${command.slice(at, match.index)}${around === '"' ? `\${${variable}}` : `"\${${variable}}"`}`;
    at = match.index + match[0].length;
  }
  return { kind: 'filled', command: filled + command.slice(at) };
}

/** The quote that is open at the end of the beginning of a command. */
function quoteAt(beginning: string): '"' | "'" | undefined {
  let open: '"' | "'" | undefined;
  for (let at = 0; at < beginning.length; at += 1) {
    const character = beginning[at];
    if (character === '\\' && open !== "'") at += 1;
    else if (character === open) open = undefined;
    else if (open === undefined && (character === '"' || character === "'")) open = character;
  }
  return open;
}
