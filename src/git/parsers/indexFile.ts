import { createHash } from 'node:crypto';

const entryNames = { sha1: 20, sha256: 32 } as const;
/** Stage; and, of the second word, intent-to-add. What else stands there does not say what is staged. */
const stageBits = 0x3000;
const intentBit = 0x2000;

/**
 * A hash of what an index file stages (modes, objects, stages, paths), stat data left out. `undefined` for a
 * file that only git can read: split or sparse indexes, and versions not known here.
 */
export function stagedHash(bytes: Buffer, objectFormat: 'sha1' | 'sha256'): string | undefined {
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const hash = createHash('sha256');
  const oidSize = entryNames[objectFormat];
  const count = bytes.readUInt32BE(8);
  let at = 12;
  let path: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + 40 + oidSize;
    if (flagsAt + 4 > bytes.length) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & 0x4000) !== 0 && version > 2;
    const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0;
    let nameAt = flagsAt + (isExtended ? 4 : 2);
    hash.update(bytes.subarray(at + 24, at + 28)).update(bytes.subarray(at + 40, flagsAt));
    if (version === 4) {
      const { value, next } = offsetAt(bytes, nameAt);
      nameAt = next;
      const end = bytes.indexOf(0, nameAt);
      if (end === -1 || value > path.length) return undefined;
      path = Buffer.concat([path.subarray(0, path.length - value), bytes.subarray(nameAt, end)]);
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, nameAt);
      if (end === -1) return undefined;
      path = bytes.subarray(nameAt, end);
      // Padded with one to eight NULs to a multiple of eight.
      at += (end - at + 8) & ~7;
    }
    hash.update(path).update(`\0${flags & stageBits} ${more & intentBit}\0`);
  }
  return hasForeignEntries(bytes, at, oidSize) ? undefined : hash.digest('hex');
}

/** The number of bytes to take off the path before, as `git pack` writes offsets. */
function offsetAt(bytes: Buffer, start: number): { value: number; next: number } {
  let at = start;
  let byte = bytes[at] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    byte = bytes[at] ?? 0;
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return { value, next: at + 1 };
}

/** Extensions that say that entries stand elsewhere, or are folders. */
function hasForeignEntries(bytes: Buffer, start: number, oidSize: number): boolean {
  for (let at = start; at + 8 <= bytes.length - oidSize; at += 8 + bytes.readUInt32BE(at + 4)) {
    const signature = bytes.toString('latin1', at, at + 4);
    if (signature === 'link' || signature === 'sdir') return true;
  }
  return false;
}
