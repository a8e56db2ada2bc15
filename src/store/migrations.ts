import { isUtf8 } from 'node:buffer';
import type * as z from 'zod';

/** The kinds of files that carry a version `v`. */
export type FileKind =
  | 'task'
  | 'board'
  | 'worktreeIndex'
  | 'event'
  | 'owner'
  | 'lock'
  | 'request'
  | 'landing'
  | 'overlaps'
  | 'housekeeping'
  | 'transcript';

export type JsonObject = Readonly<Record<string, unknown>>;

/** From version N (the key) to N + 1; the step need not set `v`. */
export type Migrations = Readonly<
  Partial<Record<FileKind, Readonly<Record<number, (file: JsonObject) => JsonObject>>>>
>;

/** The version this build writes. */
export const currentVersions: Readonly<Record<FileKind, number>> = {
  task: 1,
  board: 1,
  worktreeIndex: 1,
  event: 1,
  owner: 1,
  lock: 1,
  request: 1,
  landing: 1,
  overlaps: 1,
  housekeeping: 1,
  transcript: 1,
};

/** Every version so far is the first one. A new version adds its step here and its line in the README beside. */
export const migrations: Migrations = {};

/** What a file turned out to be. `newer` carries a value where today's schema can still read it. */
export type Decoded<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'newer'; readonly version: number; readonly value?: T }
  | { readonly kind: 'corrupt'; readonly reason: string };

export interface FileFormat<T> {
  readonly kind: FileKind;
  readonly schema: z.ZodType<T>;
}

/** Parse, migrate, schema. Never throws. */
export function decodeFile<T>(bytes: Uint8Array, format: FileFormat<T>, steps: Migrations): Decoded<T> {
  if (bytes.length === 0) return corrupt('the file is empty');
  if (!isUtf8(bytes)) return corrupt('it is not UTF-8 text');
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return corrupt('it is not whole JSON');
  }
  return decodeValue(raw, format, steps);
}

/** The same for a value that is parsed already, such as a line of a JSONL file. */
export function decodeValue<T>(raw: unknown, format: FileFormat<T>, steps: Migrations): Decoded<T> {
  const migrated = migrate(raw, format.kind, steps);
  if (migrated.kind === 'corrupt') return migrated;
  const parsed = format.schema.safeParse(migrated.file);
  if (migrated.kind === 'newer') {
    return { kind: 'newer', version: migrated.version, ...(parsed.success ? { value: parsed.data } : {}) };
  }
  if (parsed.success) return { kind: 'ok', value: parsed.data };
  const issue = parsed.error.issues[0];
  return corrupt(`"${issue?.path.join('.') ?? ''}" is wrong: ${issue?.message ?? 'it does not fit'}`);
}

type Migrated =
  | { readonly kind: 'current'; readonly file: JsonObject }
  | { readonly kind: 'newer'; readonly version: number; readonly file: JsonObject }
  | { readonly kind: 'corrupt'; readonly reason: string };

/** Brings a raw file to the current version; a newer one is given with today's number, to be read as far as it fits. */
export function migrate(raw: unknown, kind: FileKind, steps: Migrations): Migrated {
  if (!isObject(raw)) return corrupt('it is not a JSON object');
  const current = currentVersions[kind];
  const version = raw['v'];
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 0) {
    return corrupt('it carries no version');
  }
  if (version > current) return { kind: 'newer', version, file: { ...raw, v: current } };
  let file = raw;
  for (let at = version; at < current; at += 1) {
    const step = steps[kind]?.[at];
    if (step === undefined) return corrupt(`its version ${version} is not known`);
    file = { ...step(file), v: at + 1 };
  }
  return { kind: 'current', file };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function corrupt(reason: string): { readonly kind: 'corrupt'; readonly reason: string } {
  return { kind: 'corrupt', reason };
}
