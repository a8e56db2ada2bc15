// Models, tools, files and servers choose the text we print. A terminal obeys control characters in it:
// colours, cursor, title, clipboard, hidden and reordered text. None of them gets through.

// C0 without tab and newline, DEL, C1; directional marks, embeddings, overrides, isolates; line and
// paragraph separators; the byte order mark, zero-width characters (but the joiners scripts and emoji need), tags.
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

// Whole sequences go as a whole, so that no `[31m` stays behind: OSC, DCS, SOS, PM and APC strings, CSI, others.
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-Z\\-~]/g;

/** `text` without anything a terminal would obey. Tabs and newlines stay. Works on pieces of a stream too. */
export function plainText(text: string): string {
  return text.replace(sequences, '').replace(unsafe, '');
}

/** The same in one line: runs of white space become one blank. */
export function plainLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}

/**
 * `text` with such characters shown as `\x1b` or `\u202e` instead of dropped: where a person decides about it,
 * nothing may be hidden.
 */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code > 0xffff) return `\\u{${code.toString(16)}}`;
    return code > 0xff
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\x${code.toString(16).padStart(2, '0')}`;
  });
}

/** At most `width` characters of a line, the last one an ellipsis where it was longer. */
export function clip(line: string, width: number): string {
  const characters = [...line];
  if (characters.length <= width) return line;
  return `${characters
    .slice(0, Math.max(0, width - 1))
    .join('')
    .trimEnd()}…`;
}
