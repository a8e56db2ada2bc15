/**
 * Paths are bytes to git and strings to us. A byte that is not UTF-8 becomes a lone surrogate U+DC80..U+DCFF,
 * so that `encodePath(decodePath(bytes))` is always the same bytes.
 */
export function decodePath(bytes: Uint8Array): string {
  const text = utf8.decode(bytes);
  return text.includes('\ufffd') ? decodeSlowly(bytes) : text;
}

/** The bytes of a path that `decodePath` made. */
export function encodePath(path: string): Buffer {
  if (isPlainText(path)) return Buffer.from(path, 'utf8');
  const parts: Buffer[] = [];
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0;
    parts.push(isEscape(code) ? Buffer.from([code - escapeBase]) : Buffer.from(character, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** Whether the path is valid UTF-8, so that a string can name it to the file system and as an argument. */
export function isPlainText(path: string): boolean {
  return !/[\udc80-\udcff]/u.test(path);
}

/** `path` below `root` for a file system call; bytes where a string could not name it. */
export function fileAt(root: string, path: string): string | Buffer {
  const whole = `${root}/${path}`;
  return isPlainText(whole) ? whole : encodePath(whole);
}

/** Splits NUL-terminated output into paths. */
export function splitPaths(output: Uint8Array): string[] {
  const text = utf8.decode(output);
  if (!text.includes('\ufffd')) return text.split('\0').filter((part) => part !== '');
  return splitBytes(output).map(decodePath);
}

/** Splits NUL-terminated output; the empty rest after the last NUL is no part. */
export function splitBytes(output: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  for (let end = output.indexOf(0); end >= 0; end = output.indexOf(0, start)) {
    parts.push(output.subarray(start, end));
    start = end + 1;
  }
  if (start < output.length) parts.push(output.subarray(start));
  return parts;
}

/** Paths as NUL-terminated input for `--stdin -z`. */
export function joinPaths(paths: readonly string[]): Buffer {
  const text = paths.map((path) => `${path}\0`).join('');
  return encodePath(text);
}

const escapeBase = 0xdc00;
// A byte order mark is part of a name: it is kept.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function isEscape(code: number): boolean {
  return code >= escapeBase + 0x80 && code <= escapeBase + 0xff;
}

/** Character by character, for the rare name that is not UTF-8. */
function decodeSlowly(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at);
    if (character === undefined) {
      text += String.fromCharCode(escapeBase + (bytes[at] ?? 0));
      at += 1;
    } else {
      text += character.text;
      at += character.length;
    }
  }
  return text;
}

/** The character that starts at `at`, or `undefined` when no valid one does. */
function characterAt(bytes: Uint8Array, at: number): { text: string; length: number } | undefined {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    try {
      return { text: strictUtf8.decode(bytes.subarray(at, at + length)), length };
    } catch {
      // Not a whole character yet; one more byte may complete it.
    }
  }
  return undefined;
}
