import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a proxy does to one request. */
export type Fault =
  /** The connection is reset; nothing reached the server. */
  | 'reset-before'
  /** The server did it; its answer never arrives. */
  | 'reset-after'
  /** The answer breaks off half-way. */
  | 'truncate-answer'
  /** The connection is reset at once; the server gets the request all the same. */
  | 'reset-during'
  /** The server gets half of the request, then a reset; so does the client. */
  | 'cut-request'
  /** The connection is reset; the server gets the request some time later. */
  | 'late'
  /** Answered normally; the server gets the same request a second time, some time later. */
  | 'twice'
  /** The answer is held back for a while. */
  | 'slow'
  /** The proxy answers 502 itself; nothing reached the server. */
  | 'bad-gateway'
  /** The server did it; after a long silence the connection is reset. */
  | 'swallow-answer'
  /** The connection is reset at once; the server gets the second half of the request some time later. */
  | 'half-late'
  /** The connection is reset at once; the server gets half of the request, and after some time a reset. */
  | 'half-sent';

/** What a test does with one request by itself. */
export type DirectedFault = (request: {
  /** Sends the request on; resolves when the server has answered. */
  forward(): Promise<void>;
  /** Resets the client's connection. */
  reset(): void;
  /** Passes the answer on, after `forward`. */
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
  /** How often each fault struck. */
  readonly struck: ReadonlyMap<Fault, number>;
  /**
   * Resolves when the requests that have arrived by now have ended, and everything that faults make of them: what was
   * held back, and what is sent a second time.
   */
  quiesced(): Promise<void>;
  close(): Promise<void>;
}

/** How long an idle connection is kept, as the embedded ClickHouse does. */
const KEEP_ALIVE_MS = 3000;

/** One request on its way from the proxy to the server. */
export interface Sent {
  /** Its path and query, decoded. */
  readonly path: string;
  readonly fault: Fault | 'directed' | undefined;
  /** Of the monotonic clock, milliseconds. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The status of the server's answer, or why there was none. */
  readonly outcome: number | string;
}

/**
 * A real HTTP proxy before a server, for loopback tests.
 * @param target base URL of the server, asked for at each request
 * @param choose the fault for a request, by its path and query; undefined lets it pass
 * @param delayMs how long faults hold something back
 * @param onSent called with everything that was sent to the server, when it has ended
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
      // Only what is on its way now: where requests come and come, there is no moment without any.
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

/** Ends when everything that the fault makes of the request has ended. */
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
  /** How long after the first half the second one follows; 0 sends both at once. */
  readonly stallMs?: number;
}

/** Sends the request on, and says so when that has ended. */
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
