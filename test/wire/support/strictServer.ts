import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultPoint, type Reply, type SseEvent, sendable, streamOf } from './sse';
import { alteredThinking, isObject, type JsonObject, problemOf } from './strictRules';

export type { Reply, ReplyBlock } from './sse';

/** An answer that is no stream. */
export interface HttpFault {
  readonly status: number;
  /** The API's error type, such as `rate_limit_error`; absent: `body` is sent as it is. */
  readonly type?: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request as it came. */
export interface RecordedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly body: JsonObject;
  readonly path: string;
  /** Resolves when the client's connection for this request is closed or the answer is complete. */
  readonly closed: Promise<'complete' | 'aborted'>;
}

export type Script = (
  request: RecordedRequest,
  index: number,
) => Reply | HttpFault | Promise<Reply | HttpFault>;

export interface StrictServerOptions {
  readonly apiKey?: string;
  readonly authToken?: string;
  /** Model names that are answered 404. */
  readonly unknownModels?: readonly string[];
}

export interface StrictServer {
  /** Use as base URL: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Every request that reached `/v1/messages`, refused ones too. */
  readonly requests: RecordedRequest[];
  /** Messages of the 400s it gave: empty in a run where the client is right. */
  readonly refusals: string[];
  /** Answers from now on; the default script says `done`. An array is used up in order, its last item stays. */
  script(next: Script | readonly (Reply | HttpFault)[]): void;
  /** Resolves when `count` requests have come. */
  waitForRequests(count: number): Promise<void>;
  /** Connections that are open now. */
  openConnections(): number;
  close(): Promise<void>;
}

/**
 * A loopback server that speaks the streaming Messages API and refuses what the real one refuses (see
 * `strictRules.ts`). It needs no product code.
 *
 *     const server = await startStrictServer();
 *     server.script([
 *       { content: [{ type: 'tool_use', name: 'Read', input: { file_path: 'a' } }] },
 *       { content: [{ type: 'text', text: 'done' }] },
 *     ]);
 *     // key `test-key`, or bearer token `test-token`, base URL server.url
 *     assert.deepEqual(server.refusals, []);
 *     await server.close();
 *
 * A `Reply` may carry a `fault` (connection dropped, silence, pings only, in-band error) at a point of its
 * stream, unknown events and blocks, odd chunk borders and delays; an `HttpFault` is a plain HTTP answer.
 */
export async function startStrictServer(options: StrictServerOptions = {}): Promise<StrictServer> {
  const state = new ServerState(options);
  const http = createServer((request, response) => {
    state.handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  http.on('connection', (socket) => {
    state.sockets.add(socket);
    socket.on('close', () => state.sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: state.requests,
    refusals: state.refusals,
    script: (next) => state.setScript(next),
    waitForRequests: (count) => state.waitForRequests(count),
    openConnections: () => state.sockets.size,
    close: async () => {
      state.stopping.abort();
      for (const socket of state.sockets) socket.destroy();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

class ServerState {
  readonly requests: RecordedRequest[] = [];
  readonly refusals: string[] = [];
  readonly sockets = new Set<Socket>();
  readonly stopping = new AbortController();
  private readonly options: StrictServerOptions;
  private readonly extraBlockTypes = new Set<string>();
  private readonly paused = new Set<string>();
  private readonly waiters: { count: number; resolve: () => void }[] = [];
  private script: Script = () => ({ content: [{ type: 'text', text: 'done' }] });
  private scriptStart = 0;

  constructor(options: StrictServerOptions) {
    this.options = options;
  }

  setScript(next: Script | readonly (Reply | HttpFault)[]): void {
    this.scriptStart = this.requests.length;
    if (typeof next === 'function') {
      this.script = next;
      return;
    }
    const items = [...next];
    this.script = (_request, index) => {
      const item = items[Math.min(index, items.length - 1)];
      if (item === undefined) throw new Error('an empty script');
      return item;
    };
  }

  waitForRequests(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ count, resolve }));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const rawBody = await readAll(request);
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (request.method !== 'POST' || path !== '/v1/messages') {
      return sendHttp(response, { status: 404, type: 'not_found_error', message: 'Not found' });
    }
    const body = parseJson(rawBody);
    const recorded: RecordedRequest = {
      headers: request.headers,
      rawBody,
      body: isObject(body) ? body : {},
      path,
      closed: new Promise((resolve) => {
        response.on('close', () => resolve(response.writableFinished ? 'complete' : 'aborted'));
      }),
    };
    const index = this.requests.push(recorded) - 1 - this.scriptStart;
    for (const waiter of this.waiters) if (this.requests.length >= waiter.count) waiter.resolve();
    const refusal = this.refusalOf(request.headers, body);
    if (refusal !== undefined) {
      if (refusal.status === 400) this.refusals.push(refusal.message ?? '');
      return sendHttp(response, refusal);
    }
    const answer = await this.script(recorded, index);
    if ('status' in answer) return sendHttp(response, answer);
    await this.sendStream(recorded.body, answer, response);
  }

  private refusalOf(headers: IncomingHttpHeaders, body: unknown): HttpFault | undefined {
    const invalid = (message: string): HttpFault => ({ status: 400, type: 'invalid_request_error', message });
    const { apiKey = 'test-key', authToken = 'test-token' } = this.options;
    const key = headers['x-api-key'];
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    if (key === undefined && bearer === undefined) {
      return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' };
    }
    const keyIsGood = key === undefined || key === apiKey;
    const bearerIsGood = bearer === undefined || bearer === apiKey || bearer === authToken;
    if (!keyIsGood || !bearerIsGood) {
      return { status: 401, type: 'authentication_error', message: 'invalid x-api-key' };
    }
    const version = headers['anthropic-version'];
    if (version === undefined) return invalid('anthropic-version: header is required');
    if (version !== '2023-06-01' && version !== '2026-10-21') {
      return invalid(`anthropic-version: "${String(version)}" is not a valid version`);
    }
    if (!(headers['content-type'] ?? '').includes('application/json'))
      return invalid('content-type: not JSON');
    if (!isObject(body)) return invalid('The request body is not valid JSON');
    const rules = { version, extraBlockTypes: this.extraBlockTypes, paused: this.paused };
    const problem = problemOf(body, rules) ?? alteredThinking(body);
    if (problem !== undefined) return invalid(problem);
    if (body['stream'] !== true) return invalid('this server streams only: stream must be true');
    if (this.options.unknownModels?.includes(String(body['model']))) {
      return { status: 404, type: 'not_found_error', message: `model: ${String(body['model'])}` };
    }
    return undefined;
  }

  private async sendStream(body: JsonObject, reply: Reply, response: ServerResponse): Promise<void> {
    const stream = streamOf(body, reply, this.requests.length);
    for (const type of stream.extraBlockTypes) this.extraBlockTypes.add(type);
    if (reply.stopReason === 'pause_turn') this.paused.add(JSON.stringify(sendable(stream.content)));
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'request-id': `req_test_${this.requests.length}`,
    });
    response.flushHeaders();
    const writer = new EventWriter(response, reply, this.stopping.signal);
    for (const [index, event] of stream.events.entries()) {
      if (reply.fault !== undefined && index === faultIndex(reply.fault, stream.events)) {
        return writer.fail(reply.fault);
      }
      await writer.write(event);
    }
    if (reply.fault !== undefined) return writer.fail(reply.fault);
    response.end();
  }
}

/** Before which event the fault happens. */
function faultIndex(fault: FaultPoint, events: readonly SseEvent[]): number {
  if (typeof fault.before === 'number') return fault.before;
  return events.findIndex((event) => event.event === fault.before);
}

class EventWriter {
  private readonly response: ServerResponse;
  private readonly reply: Reply;
  private readonly stopping: AbortSignal;
  private hasPaused = false;

  constructor(response: ServerResponse, reply: Reply, stopping: AbortSignal) {
    this.response = response;
    this.reply = reply;
    this.stopping = stopping;
  }

  async write(event: SseEvent): Promise<void> {
    if (this.reply.pause?.before === event.event && !this.hasPaused) {
      this.hasPaused = true;
      await this.pause(this.reply.pause.ms);
    }
    const bytes = Buffer.from(`event: ${event.event}\ndata: ${event.data}\n\n`);
    const size = this.reply.chunkBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      if (this.response.destroyed) return;
      await new Promise<void>((resolve) => {
        this.response.write(bytes.subarray(at, at + size), () => resolve());
      });
      // Each chunk its own TCP segment: the client must not see the event whole.
      if (this.reply.chunkBytes !== undefined) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    if (this.reply.delayMs !== undefined) await this.pause(this.reply.delayMs);
  }

  async fail(fault: FaultPoint): Promise<void> {
    switch (fault.kind) {
      case 'drop':
        this.response.socket?.resetAndDestroy();
        return;
      case 'end':
        this.response.end();
        return;
      case 'error':
        await this.write({
          event: 'error',
          data: JSON.stringify({
            type: 'error',
            error: { type: fault.errorType ?? 'overloaded_error', message: fault.message ?? 'Overloaded' },
          }),
        });
        this.response.end();
        return;
      case 'silence':
        return;
      case 'pings':
        while (!this.response.destroyed && !this.stopping.aborted) {
          await this.write({ event: 'ping', data: '{"type": "ping"}' });
          await this.pause(fault.everyMs ?? 10);
        }
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping }).catch(() => undefined);
  }
}

function sendHttp(response: ServerResponse, fault: HttpFault): void {
  const body =
    fault.type === undefined
      ? (fault.body ?? '')
      : JSON.stringify({
          type: 'error',
          error: { type: fault.type, message: fault.message ?? fault.type },
          request_id: 'req_test_error',
        });
  response.writeHead(fault.status, {
    'content-type': fault.type === undefined ? 'text/html' : 'application/json',
    'request-id': 'req_test_error',
    ...fault.headers,
  });
  response.end(body);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return Buffer.concat(chunks).toString('utf8');
}
