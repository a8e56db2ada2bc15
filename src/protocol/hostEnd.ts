import {
  type AnyHandler,
  type Api,
  callsOf,
  definitionOf,
  type Envelope,
  envelopeSchema,
  faultOf,
  type HostCalls,
  type HostHandlers,
  messageOf,
  type Wire,
} from './define';

export interface HostEnd<A extends Api> {
  /** Takes whatever the page posted. Never throws: what is not as agreed is refused and told to `onRefused`. */
  receive(message: unknown): void;
  readonly page: HostCalls<A>;
}

type FromPage = Extract<Envelope, { kind: 'request' | 'command' }>;

/** The host's end of `api`: parses what comes in and answers requests. */
export function hostEnd<A extends Api>(api: A, wire: Wire, handlers: HostHandlers<A>): HostEnd<A> {
  const byMethod = new Map<string, AnyHandler>(Object.entries<AnyHandler>(handlers));

  const refuse = (message: FromPage, reason: string): void => {
    wire.onRefused(`${message.kind} ${JSON.stringify(message.method.slice(0, 100))}: ${reason}`);
    if (message.kind === 'request') wire.post({ kind: 'failure', id: message.id, message: reason });
  };

  const call = async (message: FromPage): Promise<void> => {
    const parsed = parametersOf(api, message);
    const handler = byMethod.get(message.method);
    if (parsed.kind === 'refused') {
      refuse(message, parsed.reason);
    } else {
      try {
        const result = await handler?.(parsed.params);
        if (message.kind === 'request') wire.post({ kind: 'answer', id: message.id, result });
      } catch (error) {
        refuse(message, messageOf(error));
      }
    }
  };

  return {
    receive(raw) {
      const message = envelopeSchema.safeParse(raw);
      if (!message.success) wire.onRefused(`no message: ${faultOf(message.error)}`);
      else if (message.data.kind === 'request' || message.data.kind === 'command') void call(message.data);
      else wire.onRefused(`a page sends no ${message.data.kind}`);
    },
    page: callsOf<HostCalls<A>>(api, 'notification', (method) => (params) => {
      wire.post({ kind: 'notification', method, params });
    }),
  };
}

function parametersOf(
  api: Api,
  message: FromPage,
): { readonly kind: 'ok'; readonly params: unknown } | { readonly kind: 'refused'; readonly reason: string } {
  const definition = definitionOf(api, message.method);
  if (definition?.kind !== message.kind) return { kind: 'refused', reason: 'there is no such method' };
  const params = definition.params.safeParse(message.params);
  return params.success
    ? { kind: 'ok', params: params.data }
    : { kind: 'refused', reason: faultOf(params.error) };
}
