import type { ModelParams } from '../model/messages';
import type { Settings } from '../model/settings';

export const defaultMainModel = 'claude-sonnet-5-5';
export const defaultSmallModel = 'claude-haiku-5-5';

/** Models that take adaptive thinking and an effort; every other name is sent neither. */
const adaptiveModels: Readonly<Record<string, { readonly effort: string }>> = {
  'claude-opus-5-5': { effort: 'high' },
  'claude-sonnet-5-5': { effort: 'high' },
  'claude-haiku-5-5': { effort: 'medium' },
  'claude-fable-5-2': { effort: 'high' },
  'claude-fable-5-1': { effort: 'high' },
  'claude-fable-5': { effort: 'high' },
  'claude-mythos-5-2': { effort: 'high' },
  'claude-mythos-5-1': { effort: 'high' },
  'claude-mythos-5': { effort: 'high' },
  'claude-opus-5': { effort: 'high' },
  'claude-sonnet-5': { effort: 'high' },
  'claude-opus-4-8': { effort: 'high' },
  'claude-opus-4-7': { effort: 'high' },
  'claude-opus-4-6': { effort: 'high' },
  'claude-sonnet-4-6': { effort: 'high' },
};

/** What a Run's requests carry for this model; constant within a Run. */
export function paramsFor(model: string, maxTokens: number): ModelParams {
  const known = Object.hasOwn(adaptiveModels, model) ? adaptiveModels[model] : undefined;
  if (known === undefined) return { model, maxTokens };
  return {
    model,
    maxTokens,
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: known.effort,
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface ModelChoice {
  /** `--model`: wins over everything. */
  readonly cliModel?: string;
  readonly role: { readonly model: 'main' | 'small' | 'inherit' };
  readonly settings: Settings['model'];
  readonly env: Environment;
  /** As resolved by `resolveBaseUrl`. */
  readonly baseUrl?: string;
}

/** The model a root Run uses; `inherit` has nobody to inherit from there and means main. */
export function resolveModel(choice: ModelChoice): string {
  const { cliModel, role, settings, env, baseUrl } = choice;
  if (isSet(cliModel)) return cliModel;
  const main = firstSet(settings.main, env['ANTHROPIC_MODEL']) ?? defaultMainModel;
  if (role.model !== 'small') return main;
  // A gateway need not know our small model, but it knows the one that was chosen for it.
  return firstSet(settings.small) ?? (isAnthropicApi(baseUrl) ? defaultSmallModel : main);
}

export function resolveBaseUrl(settings: Settings['model'], env: Environment): string | undefined {
  return firstSet(settings.baseUrl, env['ANTHROPIC_BASE_URL']);
}

/** The stored key, else the environment; a token wins over a key, and never both are used. */
export function resolveCredentials(
  env: Environment,
  stored?: string,
): { readonly kind: 'apiKey' | 'authToken'; readonly value: string } | undefined {
  const token = firstSet(env['ANTHROPIC_AUTH_TOKEN']);
  if (token !== undefined) return { kind: 'authToken', value: token };
  const key = firstSet(stored, env['ANTHROPIC_API_KEY']);
  return key === undefined ? undefined : { kind: 'apiKey', value: key };
}

export function isAnthropicApi(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined) return true;
  return URL.canParse(baseUrl) && new URL(baseUrl).host === 'api.anthropic.com';
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}

/** The first that says something; an empty variable says nothing. */
function firstSet(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.find(isSet)?.trim();
}
