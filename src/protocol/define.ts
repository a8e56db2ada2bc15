import * as z from 'zod';

/** Asked by the page, answered by the host. */
export interface RequestDefinition<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  readonly kind: 'request';
  readonly params: P;
  readonly result: R;
}

/** Told by the page; there is no answer. */
export interface CommandDefinition<P extends z.ZodType = z.ZodType> {
  readonly kind: 'command';
  readonly params: P;
}

/** Told by the host; there is no answer. */
export interface NotificationDefinition<P extends z.ZodType = z.ZodType> {
  readonly kind: 'notification';
  readonly params: P;
}

export type Definition = RequestDefinition | CommandDefinition | NotificationDefinition;

/** What a page and its host can say to each other, by method. */
export type Api = Readonly<Record<string, Definition>>;

export function request<P extends z.ZodType, R extends z.ZodType>(
  params: P,
  result: R,
): RequestDefinition<P, R> {
  return { kind: 'request', params, result };
}

export function command<P extends z.ZodType>(params: P): CommandDefinition<P> {
  return { kind: 'command', params };
}

export function notification<P extends z.ZodType>(params: P): NotificationDefinition<P> {
  return { kind: 'notification', params };
}

/** The host's side: a function for every request and command. One that is missing does not compile. */
export type HostHandlers<A extends Api> = {
  readonly [M in keyof A as A[M]['kind'] extends 'notification' ? never : M]: A[M] extends RequestDefinition<
    infer P,
    infer R
  >
    ? (params: z.infer<P>) => Promise<z.infer<R>>
    : A[M] extends CommandDefinition<infer P>
      ? (params: z.infer<P>) => void
      : never;
};

/** The page's side: a function for every notification. One that is missing does not compile. */
export type PageHandlers<A extends Api> = {
  readonly [M in keyof A as A[M]['kind'] extends 'notification' ? M : never]: (
    params: z.infer<A[M]['params']>,
  ) => void;
};

/** How the host tells its page something. */
export type HostCalls<A extends Api> = PageHandlers<A>;

/** How the page asks and tells its host. A request that the host refuses or fails is a rejected promise. */
export type PageCalls<A extends Api> = HostHandlers<A>;

/** What goes over the wire. */
export const envelopeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('request'), id: z.number().int(), method: z.string(), params: z.unknown() }),
  z.object({ kind: z.literal('command'), method: z.string(), params: z.unknown() }),
  z.object({ kind: z.literal('notification'), method: z.string(), params: z.unknown() }),
  z.object({ kind: z.literal('answer'), id: z.number().int(), result: z.unknown() }),
  z.object({ kind: z.literal('failure'), id: z.number().int(), message: z.string() }),
]);
export type Envelope = z.infer<typeof envelopeSchema>;

/** One end of the wire; what the other end says comes in through `receive`. */
export interface Wire {
  readonly post: (message: Envelope) => void;
  /** Told of every message that was refused, and why; never of its content. */
  readonly onRefused: (reason: string) => void;
}

/** What is wrong with a value, in the words of its schema; names the place, never the value. */
export function faultOf(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? 'not as agreed' : `${issue.path.join('.') || 'it'}: ${issue.message}`;
}

/** A method's definition, own properties only: `constructor` is no method. */
export function definitionOf(api: Api, method: string): Definition | undefined {
  return Object.hasOwn(api, method) ? api[method] : undefined;
}

/** A handler seen from where its method is only a string; the schema has decided about `params`. */
export type AnyHandler = (params: unknown) => unknown;

/** A function per method of one kind, typed by the API it was made from. */
export function callsOf<Calls>(
  api: Api,
  kind: 'request' | 'command' | 'notification',
  make: (method: string) => AnyHandler,
): Calls {
  const entries = Object.entries(api)
    .filter(([, definition]) => definition.kind === kind)
    .map(([method]) => [method, make(method)] as const);
  // The mapped type and these entries are made from the same `api`; TypeScript cannot follow `fromEntries`.
  return Object.fromEntries(entries) as Calls;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
