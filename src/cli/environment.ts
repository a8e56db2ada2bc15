import { TributaryError } from '../base/errors';
import type { Credentials } from '../composeCore';
import { type Settings, settingsSchema } from '../model/settings';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of the command line: flags, then the environment. Throws `badArguments`. */
export function settingsOf(env: Environment, isDemo: boolean): Settings {
  const baseUrl = setValue(env, 'ANTHROPIC_BASE_URL');
  const main = setValue(env, 'ANTHROPIC_MODEL');
  const parsed = settingsSchema.safeParse({
    model: {
      provider: isDemo ? 'demo' : 'anthropic',
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(main === undefined ? {} : { main }),
    },
  });
  if (parsed.success) return parsed.data;
  throw new TributaryError('badArguments', `ANTHROPIC_BASE_URL is not a URL: ${baseUrl ?? ''}`, {
    cause: parsed.error,
    details: { hint: 'Write it whole, such as https://gateway.example.org, or unset it.' },
  });
}

/** The token wins over the key; one that is empty counts as not set. */
export function credentialsOf(env: Environment): Credentials | undefined {
  const token = setValue(env, 'ANTHROPIC_AUTH_TOKEN');
  if (token !== undefined) return { kind: 'authToken', value: token };
  const key = setValue(env, 'ANTHROPIC_API_KEY');
  return key === undefined ? undefined : { kind: 'apiKey', value: key };
}

function setValue(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === '' ? undefined : value;
}
