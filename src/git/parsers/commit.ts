import { TributaryError } from '../../base/errors';

/** What of a commit object stays when it is made anew elsewhere. */
export interface CommitText {
  readonly parents: readonly string[];
  /** `GIT_AUTHOR_NAME`, `_EMAIL` and `_DATE`; the name is absent where it is empty, which git would refuse. */
  readonly author: Readonly<Record<string, string>>;
  readonly message: Uint8Array;
  /** First line of the message. */
  readonly subject: string;
}

/** A commit as `cat-file commit` prints it. Text in another encoding is brought to UTF-8; other bytes stay. */
export function parseCommit(bytes: Buffer): CommitText {
  const end = bytes.indexOf('\n\n');
  if (end < 0) throw new TributaryError('gitFailed', 'git cat-file answered something that is no commit');
  const head = bytes.subarray(0, end);
  const body = bytes.subarray(end + 2);
  const lines = head.toString('latin1').split('\n');
  const encoding = lines.find((line) => line.startsWith('encoding '))?.slice('encoding '.length);
  const decoded = encoding === undefined ? undefined : decodedBy(encoding, [head, body]);
  const [headText = '', bodyText = ''] = decoded ?? [head.toString('utf8'), body.toString('utf8')];
  const author = /^author (.*?) ?<([^>\n]*)> (\d+) ([+-]\d{4})$/m.exec(headText);
  if (author === null) throw new TributaryError('gitFailed', 'git cat-file answered a commit without author');
  const [, name = '', email = '', seconds = '', zone = ''] = author;
  return {
    parents: lines.flatMap((line) => (line.startsWith('parent ') ? [line.slice('parent '.length)] : [])),
    author: {
      ...(name.trim() === '' ? {} : { GIT_AUTHOR_NAME: name }),
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: `@${seconds} ${zone}`,
    },
    message: decoded === undefined ? body : Buffer.from(bodyText),
    subject: bodyText.split('\n', 1)[0] ?? '',
  };
}

/** `undefined` where the encoding is none that is known here. */
function decodedBy(encoding: string, parts: readonly Buffer[]): string[] | undefined {
  try {
    const decoder = new TextDecoder(encoding);
    return parts.map((part) => decoder.decode(part));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
