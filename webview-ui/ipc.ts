import type { PageHandlers, Wire } from '../src/protocol/define';
import { type PageEnd, pageEnd } from '../src/protocol/pageEnd';
import { type TranscriptApi, transcriptApi } from '../src/protocol/transcriptApi';

/** What the editor gives a webview, once. */
export interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export function editorApi(): VsCodeApi {
  return acquireVsCodeApi();
}

export type Host = PageEnd<TranscriptApi>['host'];

/** Connects the page with its host. Messages that are not as agreed are refused and told on the console. */
export function connect(api: VsCodeApi, handlers: PageHandlers<TranscriptApi>): Host {
  const wire: Wire = {
    post: (message) => api.postMessage(message),
    onRefused: (reason) => console.warn(`refused: ${reason}`),
  };
  const end = pageEnd(transcriptApi, wire, handlers);
  window.addEventListener('message', (event: MessageEvent<unknown>) => end.receive(event.data));
  return end.host;
}
