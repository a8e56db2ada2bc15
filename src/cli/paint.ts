/** Colours for a terminal; each function gives its text back unchanged where there are none. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** `isColoured`: a terminal, and NO_COLOR is not set. */
export function makePaint(isColoured: boolean): Paint {
  const wrap =
    (open: number, close: number) =>
    (text: string): string =>
      isColoured && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  };
}

/** NO_COLOR counts when it is set and not empty; a dumb terminal has no colours either. */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
