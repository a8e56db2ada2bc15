import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { delay } from '../base/async';
import { TributaryError } from '../base/errors';
import { demoReply } from './demoModel';
import { type ParsedRequest, parseRequest } from './demoRequest';
import {
  estimatedTokens,
  type MessageFacts,
  type StreamEvent,
  streamEvents,
  wholeMessage,
} from './messageStream';
import { type Playbook, playbookProblems } from './playbook';

export interface DemoServerOptions {
  readonly playbooks: readonly Playbook[];
  /** Pause between two pieces of a stream, in ms; default 0. */
  readonly delayMs?: number;
}

export interface DemoServer {
  /** `http://127.0.0.1:port`, what a client takes as its base URL. */
  readonly baseUrl: string;
  /** Ends open streams and frees the port. Calling it twice is harmless. */
  dispose(): Promise<void>;
}

/** What the API takes in one request. */
const maxBodyBytes = 32 * 1024 * 1024;

/**
 * Serves the Messages API on a free port of the loopback interface, answered from playbooks. It keeps no
 * state between requests. Throws `internal` when a playbook is not sound.
 */
export async function startDemoServer({ playbooks, delayMs = 0 }: DemoServerOptions): Promise<DemoServer> {
  const problems = playbooks.flatMap(playbookProblems);
  if (problems.length > 0) throw new TributaryError('internal', problems.join('; '));
  const server = createServer((request, response) => {
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    answer(request, response, { playbooks, delayMs, signal: ended.signal }).catch((error: unknown) => {
      // A client that went away, or the end of the server, leaves nobody to answer.
      if (!ended.signal.aborted) fail(response, 500, 'api_error', String(error));
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { baseUrl: `http://127.0.0.1:${portOf(server)}`, dispose: () => close(server) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TributaryError('internal', 'no port');
  return address.port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

interface AnswerContext {
  readonly playbooks: readonly Playbook[];
  readonly delayMs: number;
  readonly signal: AbortSignal;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { playbooks, delayMs, signal }: AnswerContext,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
  if (path !== '/v1/messages') return fail(response, 404, 'not_found_error', `no such path: ${path}`);
  if (request.method !== 'POST') return fail(response, 405, 'invalid_request_error', 'use POST');
  const body = await bodyOf(request);
  if (body === undefined) return fail(response, 413, 'request_too_large', 'the request is larger than 32 MB');
  const parsed = parseBody(body);
  if (parsed.kind === 'refused') return fail(response, 400, 'invalid_request_error', parsed.message);
  const reply = demoReply(playbooks, parsed.request);
  const id = randomUUID().replaceAll('-', '');
  const facts: MessageFacts = { id: `msg_demo_${id}`, inputTokens: estimatedTokens(body.length) };
  const headers = { 'request-id': `req_demo_${id}`, 'cache-control': 'no-store' };
  if (!parsed.request.isStreaming) {
    response.writeHead(200, { ...headers, 'content-type': 'application/json' });
    response.end(JSON.stringify(wholeMessage(reply, facts)));
    return;
  }
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' });
  for (const event of streamEvents(reply, facts)) await send(response, event, { delayMs, signal });
  response.end();
}

async function send(
  response: ServerResponse,
  event: StreamEvent,
  { delayMs, signal }: { delayMs: number; signal: AbortSignal },
): Promise<void> {
  if (event.type === 'content_block_delta' && delayMs > 0) await delay(delayMs, signal);
  const text = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  if (!response.write(text)) await once(response, 'drain', { signal });
}

/** The body as text, or `undefined` when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    // The rest is read and dropped, so that the client gets to see the answer.
    if (length <= maxBodyBytes) chunks.push(bytes);
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

function parseBody(body: string): ParsedRequest {
  try {
    const json: unknown = JSON.parse(body);
    return parseRequest(json);
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'refused', message: 'the body is not JSON' };
    throw error;
  }
}

/** An error in the API's own form. */
function fail(response: ServerResponse, status: number, type: string, message: string): void {
  if (response.headersSent) return;
  const id = `req_demo_${randomUUID().replaceAll('-', '')}`;
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': id });
  response.end(JSON.stringify({ type: 'error', error: { type, message }, request_id: id }));
}
