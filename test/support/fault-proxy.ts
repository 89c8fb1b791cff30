import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fault of one request. */
export type Fault =
  /** The connection is reset; nothing reached the server. */
  | 'reset-before'
  /** The server executed it; its response is dropped. */
  | 'reset-after'
  /** The response is truncated. */
  | 'truncate-answer'
  /** The connection is reset at once; the server still gets the request. */
  | 'reset-during'
  /** The server gets half of the request, then both connections are reset. */
  | 'cut-request'
  /** The connection is reset; the server gets the request some time later. */
  | 'late'
  /** Answered normally; the server gets the same request a second time, some time later. */
  | 'twice'
  /** The response is delayed. */
  | 'slow'
  /** The proxy answers 502 itself; nothing reached the server. */
  | 'bad-gateway'
  /** The server executed it; after a long silence the connection is reset. */
  | 'swallow-answer'
  /** The connection is reset at once; the server gets the second half of the request some time later. */
  | 'half-late'
  /** The connection is reset at once; the server gets half of the request, and after some time a reset. */
  | 'half-sent';

/** Controls of one request, for faults defined by a test. */
export type DirectedFault = (request: {
  /** Forwards the request; resolves when the server has responded. */
  forward(): Promise<void>;
  /** Resets the client's connection. */
  reset(): void;
  /** Forwards the response, after `forward`. */
  answer(): void;
}) => Promise<void>;

export const FAULTS: readonly Fault[] = [
  'reset-before',
  'reset-after',
  'truncate-answer',
  'reset-during',
  'cut-request',
  'late',
  'twice',
  'slow',
  'bad-gateway',
  'swallow-answer',
  'half-late',
  'half-sent',
];

export interface FaultProxy {
  readonly url: string;
  /** Number of injected faults by kind. */
  readonly struck: ReadonlyMap<Fault, number>;
  /**
   * Resolves when the requests received so far have ended, and the delayed and repeated ones that faults made of them.
   */
  quiesced(): Promise<void>;
  close(): Promise<void>;
}

/** Keep-alive timeout of idle connections, the same as of the embedded ClickHouse. */
const KEEP_ALIVE_MS = 3000;

/** One request from the proxy to the server. */
export interface Sent {
  /** Its path and query, decoded. */
  readonly path: string;
  readonly fault: Fault | 'directed' | undefined;
  /** Of the monotonic clock, milliseconds. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The status of the server's response, or why there was none. */
  readonly outcome: number | string;
}

/**
 * A real HTTP proxy before a server, for loopback tests.
 * @param target returns the base URL of the server; called for each request
 * @param choose the fault for a request, by its path and query; undefined forwards it
 * @param delayMs delay of faults
 * @param onSent called with every request to the server when it has ended
 */
export async function startFaultProxy(
  target: () => string,
  choose: (path: string) => Fault | DirectedFault | undefined,
  delayMs: () => number,
  onSent: (sent: Sent) => void = () => undefined,
): Promise<FaultProxy> {
  const struck = new Map<Fault, number>();
  const underWay = new Set<Promise<unknown>>();
  const proxy = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readAll(incoming);
    const path = decodeURIComponent((incoming.url ?? '/').replaceAll('+', ' '));
    const fault = choose(path);
    const proxied = { target: target(), path, incoming, body, response, onSent };
    if (typeof fault === 'function') return direct(fault, { ...proxied, fault: 'directed' });
    if (fault) struck.set(fault, (struck.get(fault) ?? 0) + 1);
    return handle({ ...proxied, fault, delayMs: delayMs() });
  };
  const server: Server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, response) => {
    const done: Promise<void> = proxy(incoming, response)
      .catch(() => void response.destroy())
      .finally(() => underWay.delete(done));
    underWay.add(done);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    struck,
    async quiesced() {
      // Only the current requests: under continuous load there is no moment without any.
      await Promise.all([...underWay]);
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Proxied {
  readonly target: string;
  readonly path: string;
  readonly fault: Sent['fault'];
  readonly onSent: (sent: Sent) => void;
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

interface Exchange extends Proxied {
  readonly fault: Fault | undefined;
  readonly delayMs: number;
}

async function direct(fault: DirectedFault, proxied: Proxied): Promise<void> {
  const { response } = proxied;
  let answer: Answer | undefined;
  await fault({
    forward: async () => {
      answer = await forward(proxied);
    },
    reset: () => response.socket?.resetAndDestroy(),
    answer: () => {
      if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
    },
  });
}

/** Resolves when the request has ended, with everything that the fault causes. */
async function handle(exchange: Exchange): Promise<void> {
  const { response, fault, delayMs } = exchange;
  const reset = () => response.socket?.resetAndDestroy();
  switch (fault) {
    case 'reset-before':
      reset();
      return;
    case 'bad-gateway':
      response.writeHead(502).end('bad gateway');
      return;
    case 'late':
      reset();
      await pause(delayMs);
      await forward(exchange);
      return;
    case 'cut-request':
      await forward(exchange, { cut: true }).catch(() => undefined);
      reset();
      return;
    case 'reset-during':
    case 'half-late':
    case 'half-sent': {
      const sent = forward(exchange, { cut: fault === 'half-sent', stallMs: fault === 'reset-during' ? 0 : delayMs });
      reset();
      await sent;
      return;
    }
    default:
  }
  const answer = await forward(exchange).catch(() => undefined);
  if (!answer || fault === 'reset-after') {
    reset();
    return;
  }
  if (fault === 'slow' || fault === 'swallow-answer') await pause(delayMs);
  if (fault === 'swallow-answer') {
    reset();
    return;
  }
  if (fault === 'truncate-answer') {
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.body.length + 10) });
    response.write(answer.body, reset);
    return;
  }
  response.writeHead(answer.status, answer.headers).end(answer.body);
  if (fault === 'twice') {
    await pause(delayMs);
    await forward(exchange);
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

interface Manner {
  /** Only the first half is sent. */
  readonly cut?: boolean;
  /** Delay between the halves; 0 sends both at once. */
  readonly stallMs?: number;
}

/** Forwards the request, and calls `onSent` when it has ended. */
async function forward(proxied: Proxied, manner: Manner = {}): Promise<Answer> {
  const { path, fault, onSent } = proxied;
  const sentAt = performance.now();
  const ended = (outcome: number | string) => onSent({ path, fault, sentAt, endedAt: performance.now(), outcome });
  try {
    const answer = await send(proxied, manner);
    ended(answer.status);
    return answer;
  } catch (error) {
    ended(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

function send({ target, incoming, body }: Proxied, { cut = false, stallMs = 0 }: Manner): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host: _host, 'transfer-encoding': _encoding, connection: _connection, ...headers } = incoming.headers;
    const outgoing = request(`${target}${incoming.url}`, {
      method: incoming.method,
      headers: { ...headers, 'content-length': String(body.length) },
      agent: false,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      readAll(answer).then((text) => {
        const { 'transfer-encoding': _chunked, connection: _close, ...kept } = answer.headers;
        const named = Object.entries(kept).filter(
          (entry): entry is [string, string | string[]] => entry[1] !== undefined,
        );
        resolve({ status: answer.statusCode ?? 0, headers: Object.fromEntries(named), body: text });
      }, reject);
    });
    const half = Math.floor(body.length / 2);
    const rest = () => (cut ? outgoing.destroy(new Error('cut')) : outgoing.end(body.subarray(half)));
    if (cut || stallMs > 0) outgoing.write(body.subarray(0, half), () => setTimeout(rest, stallMs));
    else outgoing.end(body);
  });
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
