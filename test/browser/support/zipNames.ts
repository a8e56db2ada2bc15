import { readFile } from 'node:fs/promises';

const endOfDirectory = 0x06054b50;
const entryOfDirectory = 0x02014b50;

/** The names of the files in a zip archive, with their sizes when unpacked. */
export async function zipEntries(path: string): Promise<{ name: string; size: number }[]> {
  const bytes = await readFile(path);
  let end = bytes.length - 22;
  while (end >= 0 && bytes.readUInt32LE(end) !== endOfDirectory) end -= 1;
  if (end < 0) throw new Error(`${path} is no zip archive`);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  const entries = [];
  for (let index = 0; index < count; index += 1) {
    if (bytes.readUInt32LE(at) !== entryOfDirectory) throw new Error(`${path}: broken directory at ${at}`);
    const nameLength = bytes.readUInt16LE(at + 28);
    entries.push({
      name: bytes.toString('utf8', at + 46, at + 46 + nameLength),
      size: bytes.readUInt32LE(at + 24),
    });
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}
