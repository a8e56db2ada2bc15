import type { Anthropic } from '@anthropic-ai/sdk';
import { cancelled } from '../base/async';
import { messageOf, type TributaryError } from '../base/errors';
import { contentBlockSchema, toolSpecSchema } from '../model/messages';
import type { LiveEvent } from '../model/transcript';
import { withCacheBreakpoints } from './context/cacheBreakpoints';
import type { LanguageModel, ModelMessage, ModelRequest } from './languageModel';
import { BrokenStream, MessageAssembly } from './messageAssembly';
import {
  innermostMessage,
  meaningOfConnection,
  meaningOfStatus,
  meaningOfType,
  modelFailure,
  redactor,
  retryAfterMs,
} from './modelFailure';
import { patientFetch, warmFetch } from './patientFetch';

export interface AnthropicModelOptions {
  readonly credentials: { readonly kind: 'apiKey' | 'authToken'; readonly value: string };
  readonly baseUrl?: string;
  /** Least wait for the first event, in ms; default 300,000. */
  readonly firstEventMs?: number;
  /** Longest time of one request, in ms; default 1,800,000. */
  readonly totalMs?: number;
}

export interface AnthropicModel extends LanguageModel {
  /** Loads the SDK ahead of the first request. */
  warm(): Promise<void>;
}

/** The Messages API by key, or any gateway that speaks it by base URL. Loads the SDK at the first request. */
export function createAnthropicModel(options: AnthropicModelOptions): AnthropicModel {
  const secrets = [options.credentials.value, passwordOf(options.baseUrl)];
  const redact = redactor(secrets);
  let loading: Promise<Connection> | undefined;
  const connect = (): Promise<Connection> => {
    loading ??= loadConnection(options);
    return loading;
  };
  return {
    warm: async () => void (await connect()),
    stream: async (request, onLive, signal) => {
      if (signal.aborted) throw cancelled();
      const connection = await connect();
      return new StreamedRequest({ connection, options, redact, onLive }).run(request, signal);
    },
  };
}

type Sdk = typeof import('@anthropic-ai/sdk');

interface Connection {
  readonly sdk: Sdk;
  readonly client: Anthropic;
  readonly headers: Readonly<Record<string, string | null>>;
}

const defaultBaseUrl = 'https://api.anthropic.com';

async function loadConnection(options: AnthropicModelOptions): Promise<Connection> {
  const sdk = await import('@anthropic-ai/sdk');
  warmFetch();
  const { kind, value } = options.credentials;
  // Everything is said explicitly: what is left out, the SDK would look for in environment and profiles.
  const client = new sdk.Anthropic({
    apiKey: kind === 'apiKey' ? value : null,
    authToken: kind === 'authToken' ? value : null,
    webhookKey: null,
    baseURL: options.baseUrl ?? defaultBaseUrl,
    maxRetries: 0,
    timeout: totalMsOf(options),
    logLevel: 'off',
    openTelemetry: false,
    fetch: patientFetch,
  });
  const headers = {
    ...removedHeaders(process.env['ANTHROPIC_CUSTOM_HEADERS']),
    authorization: `Bearer ${value}`,
    // Gateways written before the SDK sent keys as bearer tokens read this one.
    'x-api-key': kind === 'apiKey' ? value : null,
  };
  return { sdk, client, headers };
}

/** The SDK adds the headers of this variable to every request; `null` takes them away again. */
function removedHeaders(fromEnvironment: string | undefined): Record<string, null> {
  const names = (fromEnvironment ?? '')
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim().toLowerCase());
  return Object.fromEntries(names.map((name) => [name, null]));
}

function totalMsOf(options: AnthropicModelOptions): number {
  return options.totalMs ?? 1_800_000;
}

function passwordOf(baseUrl: string | undefined): string {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return '';
  return decodeURIComponent(new URL(baseUrl).password);
}

interface StreamedRequestDeps {
  readonly connection: Connection;
  readonly options: AnthropicModelOptions;
  readonly redact: (text: string) => string;
  readonly onLive: (event: LiveEvent) => void;
}

/** One request: two clocks, one assembly, and every way it can break as one typed error. */
class StreamedRequest {
  private readonly deps: StreamedRequestDeps;
  private readonly assembly: MessageAssembly;
  private readonly controller = new AbortController();
  private stalled: string | undefined;
  private requestId: string | undefined;
  private hasAnswered = false;

  constructor(deps: StreamedRequestDeps) {
    this.deps = deps;
    this.assembly = new MessageAssembly(deps.onLive);
  }

  async run(request: ModelRequest, signal: AbortSignal): Promise<ModelMessage> {
    const onAbort = (): void => this.controller.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    const silence = new Watchdog((ms) => this.stall(`the model sent nothing new for ${inSeconds(ms)}`));
    const total = new Watchdog((ms) => this.stall(`the answer was not complete after ${inSeconds(ms)}`));
    try {
      if (signal.aborted) throw cancelled();
      total.start(totalMsOf(this.deps.options));
      silence.start(Math.max(request.silenceMs, this.deps.options.firstEventMs ?? 300_000));
      await this.read(request, silence);
      return this.assembly.finish();
    } catch (error) {
      if (signal.aborted) throw cancelled();
      throw this.failure(error);
    } finally {
      silence.stop();
      total.stop();
      signal.removeEventListener('abort', onAbort);
      // Also after success: whatever of the connection still lives is closed.
      this.controller.abort();
    }
  }

  private async read(request: ModelRequest, silence: Watchdog): Promise<void> {
    const { client, headers } = this.deps.connection;
    // `post`, not `messages.create`: that one writes warnings to the console.
    const { data, response, request_id } = await client
      .post<AsyncIterable<unknown>>('/v1/messages', {
        body: bodyOf(request),
        headers,
        stream: true,
        signal: this.controller.signal,
      })
      .withResponse();
    this.requestId = request_id ?? undefined;
    const type = response.headers.get('content-type') ?? 'no content type';
    if (!type.includes('text/event-stream')) throw new NotAStream(response.status, type);
    this.hasAnswered = true;
    // The SDK leaves pings out, so whatever comes here is a sign of life.
    for await (const event of data) {
      silence.start(request.silenceMs);
      this.assembly.take(event);
    }
  }

  private stall(message: string): void {
    this.stalled ??= message;
    this.controller.abort();
  }

  private failure(error: unknown): TributaryError {
    const { usage, partialText } = this.assembly;
    const details = {
      partialText,
      ...(this.requestId === undefined ? {} : { requestId: this.requestId }),
      ...(usage === undefined ? {} : { usage }),
    };
    const { redact } = this.deps;
    if (this.stalled !== undefined) {
      return modelFailure({ code: 'stalled', isRetryable: true }, this.stalled, details, redact);
    }
    if (error instanceof NotAStream) {
      const message = `the base URL answered ${error.status} with ${error.contentType}, not with a stream of the Messages API`;
      return modelFailure({ code: 'notTheApi', isRetryable: false }, message, details, redact);
    }
    if (error instanceof BrokenStream || error instanceof SyntaxError) {
      return modelFailure({ code: 'cutStream', isRetryable: true }, error.message, details, redact);
    }
    const { APIError, APIConnectionError } = this.deps.connection.sdk;
    if (error instanceof APIError && !(error instanceof APIConnectionError)) {
      return this.apiFailure(error, details);
    }
    const meaning = meaningOfConnection(error, this.hasAnswered);
    return modelFailure(meaning, innermostMessage(error), details, redact);
  }

  private apiFailure(
    error: InstanceType<Sdk['APIError']>,
    details: { partialText: string; requestId?: string },
  ): TributaryError {
    const { status, headers } = error;
    const type = error.type ?? undefined;
    const message = error.apiMessage ?? firstLine(messageOf(error));
    const meaning = status === undefined ? meaningOfType(type) : meaningOfStatus(status, type, message);
    const waitMs = retryAfterMs(headers, Date.now());
    const requestId = error.requestID ?? details.requestId;
    return modelFailure(
      meaning,
      message,
      {
        ...details,
        ...(status === undefined ? {} : { status }),
        ...(requestId === undefined || requestId === null ? {} : { requestId }),
        // In a stream the headers are those of the good start.
        ...(waitMs === undefined || status === undefined ? {} : { retryAfterMs: waitMs }),
      },
      this.deps.redact,
    );
  }
}

/** 200, but no event stream: a login page, a proxy's greeting, another API. */
class NotAStream extends Error {
  readonly status: number;
  readonly contentType: string;

  constructor(status: number, contentType: string) {
    super('not a stream');
    this.status = status;
    this.contentType = contentType;
  }
}

/** Calls once when nobody restarted it for the given time. */
class Watchdog {
  private readonly onSilence: (ms: number) => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(onSilence: (ms: number) => void) {
    this.onSilence = onSilence;
  }

  start(ms: number): void {
    this.stop();
    this.timer = setTimeout(() => this.onSilence(ms), ms);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

function bodyOf(request: ModelRequest): Record<string, unknown> {
  const { params } = request;
  // Parsed, so that the order of keys is the same for what was just made and what came back from disk.
  const { system, messages } = withCacheBreakpoints({
    system: request.system.map((block) => contentBlockSchema.parse(block)),
    messages: request.messages.map(({ role, content }) => ({
      role,
      content: content.map((block) => contentBlockSchema.parse(block)),
    })),
  });
  return {
    model: params.model,
    max_tokens: params.maxTokens,
    ...(params.thinking === undefined ? {} : { thinking: params.thinking }),
    ...(params.effort === undefined ? {} : { output_config: { effort: params.effort } }),
    ...(system.length === 0 ? {} : { system }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => toolSpecSchema.parse(tool)) }),
    messages,
    stream: true,
  };
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

/** A page of HTML says nothing to a person. */
function firstLine(text: string): string {
  const line = text.split('\n')[0] ?? '';
  return line.length > 300 ? `${line.slice(0, 300)}...` : line;
}
