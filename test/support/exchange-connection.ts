import type { ReadyLine } from '../../exchange/index.js';
import { TestSocket } from './test-socket.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand, field by field
  readonly body: any;
}

/** A test's requests to a running exchange. */
export interface ExchangeConnection {
  readonly ready: ReadyLine;
  readonly url: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** A request with any method and raw body text. */
  request(method: string, path: string, init?: RequestInit): Promise<Answer>;
  /** A control call. */
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A WebSocket on a stream path, once it is open; it ends with the test. */
  connect(path: string, headers?: Readonly<Record<string, string>>): Promise<TestSocket>;
}

/** @param ready the ready line of the exchange */
export function connectionTo(ready: ReadyLine): ExchangeConnection {
  const { url, control } = ready;
  const ask = async (address: string, init: RequestInit) => readAnswer(await fetch(address, init));
  const bodyOf = (body: unknown) => (body === undefined ? {} : { body: JSON.stringify(body) });
  return {
    ready,
    url,
    request: (method, path, init = {}) => ask(`${url}${path}`, { ...init, method }),
    get: (path) => ask(`${url}${path}`, {}),
    post: (path, body) => ask(`${url}${path}`, { method: 'POST', ...bodyOf(body) }),
    control: (method, path, body) =>
      ask(`${control.url}${path}`, { method, headers: { 'X-Control-Token': control.token }, ...bodyOf(body) }),
    async connect(path, headers) {
      const socket = await TestSocket.open(`${url.replace('http', 'ws')}${path}`, headers);
      // Loaded late, for `npm run chaos` connects outside of vitest.
      const { atEnd } = await import('./at-end.js');
      atEnd(() => socket.ws.terminate());
      return socket;
    },
  };
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}
