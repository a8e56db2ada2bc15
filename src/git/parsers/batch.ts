/** The content of the one object `cat-file --batch` was asked for; `undefined` when it is missing or no blob. */
export function parseBatchedBlob(output: Buffer): Buffer | undefined {
  const end = output.indexOf(0x0a);
  const header = /^[0-9a-f]+ blob (\d+)$/.exec(output.subarray(0, Math.max(end, 0)).toString('latin1'));
  if (header === null) return undefined;
  return output.subarray(end + 1, end + 1 + Number(header[1]));
}
