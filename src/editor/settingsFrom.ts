import { type Settings, settingsSchema } from '../model/settings';

/** Settings as they are used, and what of the user's could not be. */
export interface ReadSettings {
  readonly settings: Settings;
  /** `model.baseUrl: ...`, one per value that was left out. */
  readonly problems: readonly string[];
}

/** Reads `tributary.*` as the editor gives it: empty texts and nulls mean "not set"; a wrong value counts as not set, and is said. */
export function settingsFrom(raw: unknown): ReadSettings {
  const problems: string[] = [];
  let candidate = withoutEmpty(raw);
  // Each round takes out at least one value, so this ends.
  for (;;) {
    const parsed = settingsSchema.safeParse(candidate ?? {});
    if (parsed.success) return { settings: parsed.data, problems };
    const [issue] = parsed.error.issues;
    const path = (issue?.path ?? []).map(String);
    problems.push(`${path.join('.')}: ${issue?.message ?? ''}`);
    candidate = path.length === 0 ? {} : without(candidate, path);
  }
}

function withoutEmpty(value: unknown): unknown {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const kept = Object.entries(value)
    .map(([key, one]) => [key, withoutEmpty(one)] as const)
    .filter(([, one]) => one !== undefined);
  return Object.fromEntries(kept);
}

function without(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || first === undefined) return undefined;
  const kept = Object.entries(value)
    .map(([key, one]) => [key, key === first ? without(one, rest) : one] as const)
    .filter(([, one]) => one !== undefined);
  return Object.fromEntries(kept);
}
