/** The part of undici's dispatcher that we lean on: what Node's own `fetch` calls for every request. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): unknown;
}

const dispatcherKey = Symbol.for('undici.globalDispatcher.1');

/**
 * Node's `fetch` without its own 300 s limits on headers and body: our clocks decide, and a model may think
 * longer in silence. Goes through whatever dispatcher is installed, so that proxies keep working. Redirects
 * are not followed: a key must not travel to another host.
 */
export function patientFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const dispatcher: Dispatcher = {
    // Looked up per request: an editor may install its proxy later.
    dispatch: (options, handler) =>
      installedDispatcher().dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  };
  const patient: RequestInit = { ...init, redirect: 'manual' };
  // Not assigned: Node's types ask for a whole dispatcher, its code for `dispatch` only.
  if (hasInstalledDispatcher()) Reflect.set(patient, 'dispatcher', dispatcher);
  return fetch(input, patient);
}

/** Loads Node's fetch ahead of the first request: it comes lazily, and naming one of its classes loads it. */
export function warmFetch(): void {
  void Headers;
}

function hasInstalledDispatcher(): boolean {
  // Installed when fetch is loaded.
  warmFetch();
  return isDispatcher(Reflect.get(globalThis, dispatcherKey));
}

function installedDispatcher(): Dispatcher {
  const installed: unknown = Reflect.get(globalThis, dispatcherKey);
  if (!isDispatcher(installed)) throw new TypeError('no dispatcher is installed');
  return installed;
}

function isDispatcher(value: unknown): value is Dispatcher {
  return (
    typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function'
  );
}
