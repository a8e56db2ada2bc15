/** How the bytes of a text file are to be written again, so that an edit changes only what it says. */
export interface TextFormat {
  readonly encoding: 'utf8' | 'utf16le' | 'utf16be' | 'latin1';
  readonly hasBom: boolean;
  readonly lineEnd: '\n' | '\r\n' | 'mixed';
}

export interface TextFile {
  /** Without the byte order mark; line ends as they are. */
  readonly text: string;
  readonly format: TextFormat;
}

export const newTextFormat: TextFormat = { encoding: 'utf8', hasBom: false, lineEnd: '\n' };

/** Bytes as text; `undefined` for what is binary. Text that is not UTF-8 is taken for Latin-1. */
export function decodeText(bytes: Buffer): TextFile | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeUtf16(bytes.subarray(2), 'utf16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeUtf16(bytes.subarray(2), 'utf16be');
  if (bytes.includes(0)) return undefined;
  const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = hasBom ? bytes.subarray(3) : bytes;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return { text, format: { encoding: 'utf8', hasBom, lineEnd: lineEndOf(text) } };
  } catch {
    const text = bytes.toString('latin1');
    return { text, format: { encoding: 'latin1', hasBom: false, lineEnd: lineEndOf(text) } };
  }
}

/** Text as bytes in the given format; `undefined` when the encoding has no such character. */
export function encodeText(text: string, format: TextFormat): Buffer | undefined {
  switch (format.encoding) {
    case 'utf8':
      return Buffer.from(format.hasBom ? `\ufeff${text}` : text, 'utf8');
    case 'latin1':
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole range of the encoding is meant.
      return /^[\u0000-\u00ff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
    case 'utf16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  }
}

/** What a reader has to know of a file that is not plain UTF-8 with LF; empty otherwise. */
export function formatNote(format: TextFormat): string {
  const names = {
    utf8: '',
    utf16le: 'UTF-16 LE',
    utf16be: 'UTF-16 BE',
    latin1: 'not UTF-8, read as Latin-1',
  };
  const notes = [
    names[format.encoding],
    format.encoding === 'utf8' && format.hasBom ? 'byte order mark' : '',
    format.lineEnd === '\r\n' ? 'CRLF line ends' : format.lineEnd === 'mixed' ? 'mixed line ends' : '',
  ];
  return notes.filter((note) => note !== '').join(', ');
}

function decodeUtf16(body: Buffer, encoding: 'utf16le' | 'utf16be'): TextFile | undefined {
  // An odd byte at the end could not be written back.
  if (body.length % 2 === 1) return undefined;
  const text = (encoding === 'utf16le' ? body : Buffer.from(body).swap16()).toString('utf16le');
  return { text, format: { encoding, hasBom: true, lineEnd: lineEndOf(text) } };
}

function lineEndOf(text: string): TextFormat['lineEnd'] {
  const all = text.split('\n').length - 1;
  if (all === 0) return '\n';
  const windows = text.split('\r\n').length - 1;
  return windows === 0 ? '\n' : windows === all ? '\r\n' : 'mixed';
}
