import * as z from 'zod';
import { type ErrorCode, errnoOf, messageOf, TributaryError } from '../base/errors';
import { usageSchema } from '../model/usage';
import type { ModelFailureDetails } from './languageModel';

/** What a code means for the next attempt is said here and nowhere else. */
interface Meaning {
  readonly code: ErrorCode;
  readonly isRetryable: boolean;
}

const retried = (code: ErrorCode): Meaning => ({ code, isRetryable: true });
const final = (code: ErrorCode): Meaning => ({ code, isRetryable: false });

/** HTTP status to code. What is not listed: 5xx is the server's fault, any other no API of ours. */
const byStatus: Readonly<Record<number, Meaning>> = {
  400: final('badRequest'),
  401: final('wrongKey'),
  402: final('forbidden'),
  403: final('forbidden'),
  404: final('notTheApi'),
  408: retried('serverError'),
  409: retried('serverError'),
  413: final('requestTooLarge'),
  422: final('badRequest'),
  429: retried('rateLimited'),
  529: retried('overloaded'),
};

/** The API's error type to code, for errors inside a stream, where there is no status. */
const byType: Readonly<Record<string, Meaning>> = {
  invalid_request_error: final('badRequest'),
  authentication_error: final('wrongKey'),
  billing_error: final('forbidden'),
  permission_error: final('forbidden'),
  not_found_error: final('unknownModel'),
  request_too_large: final('requestTooLarge'),
  rate_limit_error: retried('rateLimited'),
  timeout_error: retried('serverError'),
  api_error: retried('serverError'),
  overloaded_error: retried('overloaded'),
};

/** Node's and undici's codes of a connection that was there and broke: a reset, which may pass. */
const resets: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ETIMEDOUT']);
const stalls: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

export function meaningOfStatus(status: number, type: string | undefined, text: string): Meaning {
  if (status === 404 && type === 'not_found_error') return final('unknownModel');
  // The API has no type of its own for a prompt beyond the context window.
  if (status === 400 && /prompt is too long|context (?:window|length)/i.test(text)) {
    return final('requestTooLarge');
  }
  const known = byStatus[status];
  if (known !== undefined) return known;
  if (status >= 500) return retried('serverError');
  return final(status >= 400 && type !== undefined ? 'badRequest' : 'notTheApi');
}

export function meaningOfType(type: string | undefined): Meaning {
  return byType[type ?? ''] ?? retried('serverError');
}

/** What broke below HTTP: refused, no such host, no trust in the certificate; or a reset, or a stall. */
export function meaningOfConnection(error: unknown, hasAnswered: boolean): Meaning {
  const codes = causeChain(error).map(errnoOf);
  if (codes.some((code) => code !== undefined && stalls.has(code))) return retried('stalled');
  if (hasAnswered) return retried('cutStream');
  const isReset = codes.some((code) => code !== undefined && resets.has(code));
  return isReset ? retried('unreachable') : final('unreachable');
}

/** The message of the innermost cause: `connect ECONNREFUSED 127.0.0.1:9` says more than `fetch failed`. */
export function innermostMessage(error: unknown): string {
  const said = causeChain(error).map(messageOf);
  return said.findLast((message) => message !== '') ?? 'no connection';
}

function causeChain(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at: unknown = error; at !== undefined && at !== null && chain.length < 10; ) {
    chain.push(at);
    // Several addresses tried: the first says what is wrong.
    if (at instanceof AggregateError) at = at.errors[0];
    else at = at instanceof Error ? at.cause : undefined;
  }
  return chain;
}

/** `retry-after` in seconds or as a date, in ms from `now`; `undefined` when it is neither or past. */
export function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  const inMs = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (inMs > 0) return Math.ceil(inMs);
  const text = headers?.get('retry-after');
  if (text === null || text === undefined) return undefined;
  const seconds = /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  const waitMs = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return waitMs > 0 ? Math.ceil(waitMs) : undefined;
}

/** A failed request as an error; every text in it is free of the given secrets. */
export function modelFailure(
  meaning: Meaning,
  message: string,
  details: Omit<ModelFailureDetails, 'isRetryable'>,
  redact: (text: string) => string,
): TributaryError {
  return new TributaryError(meaning.code, redact(message), {
    details: { ...details, isRetryable: meaning.isRetryable },
  });
}

/** Removes secrets from a text that a server or a library wrote. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const found = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  return (text) => found.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}

const failureDetailsSchema = z.object({
  status: z.number().optional(),
  retryAfterMs: z.number().optional(),
  partialText: z.string().default(''),
  isRetryable: z.boolean().default(false),
  requestId: z.string().optional(),
  usage: usageSchema.optional(),
});

/** What a LanguageModel threw, with its details; anything else thrown is `internal` and final. */
export interface ModelFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: z.infer<typeof failureDetailsSchema>;
}

export function modelFailureOf(error: unknown): ModelFailure {
  const known = error instanceof TributaryError ? error : new TributaryError('internal', messageOf(error));
  const details = failureDetailsSchema.safeParse(known.details);
  return {
    code: known.code,
    message: known.message,
    details: details.success ? details.data : { partialText: '', isRetryable: false },
  };
}
