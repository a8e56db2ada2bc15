/**
 * The contents of the `count` objects that `cat-file --batch` was asked for, in order; `undefined` for one that
 * is missing or no blob.
 */
export function parseBatchedBlobs(output: Buffer, count: number): readonly (Buffer | undefined)[] {
  const blobs: (Buffer | undefined)[] = [];
  let start = 0;
  while (blobs.length < count) {
    const end = output.indexOf(0x0a, start);
    const header = output.subarray(start, end === -1 ? output.length : end).toString('latin1');
    const found = /^[0-9a-f]+ (\w+) (\d+)$/.exec(header);
    const size = Number(found?.[2] ?? 0);
    blobs.push(found?.[1] === 'blob' ? output.subarray(end + 1, end + 1 + size) : undefined);
    // The object's bytes are followed by a newline of their own.
    start = end + 1 + (found === null ? 0 : size + 1);
  }
  return blobs;
}
