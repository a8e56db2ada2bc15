import {
  type Api,
  callsOf,
  definitionOf,
  type Envelope,
  envelopeSchema,
  faultOf,
  type PageCalls,
  type PageHandlers,
  type Wire,
} from './define';

export interface PageEnd<A extends Api> {
  /** Takes whatever arrived in the window. Never throws: what is not as agreed is refused and told to `onRefused`. */
  receive(message: unknown): void;
  readonly host: PageCalls<A>;
}

interface Waiting {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Answer = Extract<Envelope, { kind: 'answer' | 'failure' }>;
type Told = Extract<Envelope, { kind: 'notification' }>;

/** The page's end of `api`: parses notifications and the answers to its requests. */
export function pageEnd<A extends Api>(api: A, wire: Wire, handlers: PageHandlers<A>): PageEnd<A> {
  const byMethod = new Map(Object.entries<(params: never) => void>(handlers));
  const waiting = new Map<number, Waiting>();
  let lastId = 0;

  const ask =
    (method: string) =>
    (params: unknown): Promise<unknown> =>
      new Promise((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { method, resolve, reject });
        wire.post({ kind: 'request', id: lastId, method, params });
      });

  const settle = (message: Answer): void => {
    const one = waiting.get(message.id);
    waiting.delete(message.id);
    if (one === undefined) {
      wire.onRefused(`nobody waits for answer ${message.id}`);
    } else if (message.kind === 'failure') {
      one.reject(new Error(message.message));
    } else {
      const definition = definitionOf(api, one.method);
      const result = definition?.kind === 'request' ? definition.result.safeParse(message.result) : undefined;
      if (result?.success) {
        one.resolve(result.data);
      } else {
        const fault = result === undefined ? 'no request' : faultOf(result.error);
        wire.onRefused(`answer to ${one.method}: ${fault}`);
        one.reject(new Error(fault));
      }
    }
  };

  const hear = ({ method, params: raw }: Told): void => {
    const definition = definitionOf(api, method);
    const handler = byMethod.get(method);
    const params = definition?.kind === 'notification' ? definition.params.safeParse(raw) : undefined;
    // Parsed by the schema that the handler's type was inferred from.
    if (params?.success && handler !== undefined) handler(params.data as never);
    else
      wire.onRefused(
        `notification ${JSON.stringify(method.slice(0, 100))}: ${
          params?.error === undefined ? 'there is no such method' : faultOf(params.error)
        }`,
      );
  };

  return {
    receive(raw) {
      const message = envelopeSchema.safeParse(raw);
      if (!message.success) wire.onRefused(`no message: ${faultOf(message.error)}`);
      else if (message.data.kind === 'notification') hear(message.data);
      else if (message.data.kind === 'answer' || message.data.kind === 'failure') settle(message.data);
      else wire.onRefused(`a host sends no ${message.data.kind}`);
    },
    host: {
      ...callsOf<PageCalls<A>>(api, 'request', ask),
      ...callsOf<PageCalls<A>>(api, 'command', (method) => (params) => {
        wire.post({ kind: 'command', method, params });
      }),
    },
  };
}
