import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import {
  type AuthFailedEvent,
  BalanceStream,
  type BalanceStreamMessage,
  type ConnectedEvent,
  type DisconnectedEvent,
  type OrderStreamMessage,
  OrderUpdateStream,
  type PrivateStreamOptions,
  ServerTime,
  StreamError,
  type StreamFrame,
  TransportError,
} from '../../client/index.js';
import { type Clock, systemClock } from '../../core/index.js';
import { ManualClock } from '../support/clocks.js';
import { type Connection, recorder, StreamServer } from './support.js';
import { apiKey, expectedSignature, SECRET_TEXT } from './support-account.js';

const quick = { apiKey, reconnectBaseMs: 1, reconnectCapMs: 20 };

function orders(base: string, options: Partial<PrivateStreamOptions<OrderStreamMessage>> = {}): OrderUpdateStream {
  const stream = new OrderUpdateStream({ addresses: { base }, ...quick, ...options });
  onTestFinished(() => stream.close());
  return stream;
}

function balances(base: string, options: Partial<PrivateStreamOptions<BalanceStreamMessage>> = {}): BalanceStream {
  const stream = new BalanceStream({ addresses: { base }, ...quick, ...options });
  onTestFinished(() => stream.close());
  return stream;
}

interface Auth {
  readonly t: string;
  readonly d: { readonly apiKey: string; readonly signature: string; readonly timestamp: string };
}

/** What is wrong with an AUTH by part 5.5; undefined when it is correct. */
function authFault(message: unknown, path: string, nowSeconds = Date.now() / 1000): string | undefined {
  const { t, d } = message as Auth;
  if (t !== 'AUTH' || d.apiKey !== 'pk_test') return `it is ${JSON.stringify(message)}`;
  if (typeof d.timestamp !== 'string' || Math.abs(Number(d.timestamp) - nowSeconds) > 30)
    return `the time is ${d.timestamp}`;
  return d.signature === expectedSignature(`${d.timestamp}GET${path}`) ? undefined : 'the signature is wrong';
}

/** A fake clock that records all sleeps. */
class WatchedClock extends ManualClock {
  readonly sleeps: number[] = [];

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    return super.sleep(ms, signal);
  }
}

const AUTHORIZED = { t: 'success', d: 'authorized', r: null };
const REFUSED = { t: 'error', d: { error: 'invalid signature' } };

describe('the order updates stream', () => {
  it('sends AUTH right after connecting and gives every message of part 6.3 [5.5/auth 6.3/order-update 6.3/tpsl-update 6.3/ping]', async () => {
    const server = await StreamServer.open();
    const messages = recorder<OrderStreamMessage>();
    const stream = orders(server.base, { onMessage: messages });
    stream.start();
    const connection = await server.next();
    expect(connection.url).toBe('/order/ws');
    expect(authFault(await connection.message(), '/order/ws')).toBeUndefined();
    expect(stream.authorized).toBe(false);
    connection.send(AUTHORIZED);
    expect(await messages.next()).toEqual({ type: 'authorized' });
    expect(stream.authorized).toBe(true);
    connection.send({ t: 'ORDER_UPDATE', d: { i: 'o1', u: 'u1', s: 'FAILED' } });
    connection.send(
      '{"t":"TPSL_UPDATE","d":{"i":"t1","u":"u1","a":"a1","q":0.1000000000000000055,"tpp":0.9,"slp":null,"s":"ACTIVE"}}',
    );
    connection.send({ t: 'PING', d: null, r: null });
    expect(await messages.next()).toEqual({ type: 'order-update', orderId: 'o1', userId: 'u1', status: 'FAILED' });
    expect(await messages.next()).toMatchObject({ type: 'tpsl-update', quantity: '0.1000000000000000055' });
    expect(await messages.next()).toEqual({ type: 'ping' });
    expect(connection.received.length).toBe(1);
  });

  it('sends a new AUTH after every reconnect, with a new time', async () => {
    const server = await StreamServer.open();
    const clock = new ManualClock();
    const connected = recorder<ConnectedEvent>();
    const stream = orders(server.base, { clock, onConnected: connected, random: () => 0 });
    stream.start();
    const seen: Auth[] = [];
    for (let n = 0; n < 3; n++) {
      const connection = await server.next();
      await connected.next();
      seen.push((await connection.message()) as Auth);
      connection.send(AUTHORIZED);
      await clock.advance(2000);
      connection.socket.terminate();
      await once(connection.socket, 'close');
      while (stream.connectionId !== undefined) await new Promise((resolve) => setImmediate(resolve));
      expect(stream.authorized).toBe(false);
      await clock.advance(1);
    }
    const times = seen.map(({ d }) => Number(d.timestamp));
    expect(new Set(times).size).toBe(3);
    for (const [n, auth] of seen.entries()) expect(authFault(auth, '/order/ws', times[n])).toBeUndefined();
  });

  it('reports the rejection of AUTH with its reason, and retries with another connection [6.3/auth 7.3/private]', async () => {
    const server = await StreamServer.open();
    const failed = recorder<AuthFailedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = orders(server.base, { onAuthFailed: failed, onDisconnected: disconnected });
    stream.start();
    const first = await server.next();
    await first.message();
    first.send(REFUSED);
    const { error, connectionId } = await failed.next();
    expect(error).toBeInstanceOf(StreamError);
    expect(error.message).toBe(
      `AUTH on the order updates stream ${stream.url}: the exchange refused it (invalid signature); check the API key`,
    );
    expect(await disconnected.next()).toMatchObject({ connectionId, cause: 'AUTH was refused' });
    const second = await server.next();
    expect(authFault(await second.message(), '/order/ws')).toBeUndefined();
    second.send(AUTHORIZED);
  });

  it('does not treat a later error as a refusal of AUTH', async () => {
    const server = await StreamServer.open();
    const failed = recorder<AuthFailedEvent>();
    const messages = recorder<OrderStreamMessage>();
    const stream = orders(server.base, { onAuthFailed: failed, onMessage: messages });
    stream.start();
    const connection = await server.next();
    await connection.message();
    connection.send(AUTHORIZED);
    connection.send(REFUSED);
    connection.send({ t: 'PING' });
    expect([await messages.next(), await messages.next(), await messages.next()]).toMatchObject([
      { type: 'authorized' },
      { type: 'error', reason: 'invalid signature' },
      { type: 'ping' },
    ]);
    expect(failed.calls).toEqual([]);
    expect(server.connections.length).toBe(1);
  });

  it('reconnects when AUTH times out', async () => {
    const server = await StreamServer.open();
    const clock = new ManualClock();
    const failed = recorder<AuthFailedEvent>();
    const stream = orders(server.base, { clock, authTimeoutMs: 3000, onAuthFailed: failed, random: () => 0 });
    stream.start();
    const connection = await server.next();
    await connection.message();
    connection.send({ t: 'PING' });
    await clock.advance(2999);
    expect(failed.calls).toEqual([]);
    await clock.advance(2);
    const { error } = await failed.next();
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'timeout' });
    expect(await connection.closed).toBe(1006);
  });

  it('waits for the response while reading is paused', async () => {
    const server = await StreamServer.open();
    const clock = new ManualClock();
    const failed = recorder<AuthFailedEvent>();
    const messages = recorder<OrderStreamMessage>();
    const stream = orders(server.base, { clock, authTimeoutMs: 3000, onAuthFailed: failed, onMessage: messages });
    stream.pause();
    stream.start();
    const connection = await server.next();
    await connection.message();
    connection.send(AUTHORIZED);
    await clock.advance(10_000);
    expect(failed.calls).toEqual([]);
    stream.resume();
    expect(await messages.next()).toEqual({ type: 'authorized' });
  });

  it('backs off exponentially while AUTH is rejected, and reconnects soon after a valid connection', async () => {
    const server = await StreamServer.open();
    const clock = new WatchedClock();
    const messages = recorder<OrderStreamMessage>();
    const backoff = { reconnectBaseMs: 1001, reconnectCapMs: 60_000, random: () => 1, onMessage: messages };
    const stream = orders(server.base, { clock, ...backoff, serverTime: new ServerTime(clock) });
    stream.start();
    const waits = () => clock.sleeps.filter((ms) => ms % 1001 === 0);
    const end = async (connection: Connection) => {
      const before = waits().length;
      connection.socket.terminate();
      while (waits().length === before) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(waits().at(-1) ?? 0);
    };
    for (let n = 0; n < 3; n++) {
      const connection = await server.next();
      await connection.message();
      await end(connection);
    }
    const good = await server.next();
    await good.message();
    good.send(AUTHORIZED);
    expect(await messages.next()).toEqual({ type: 'authorized' });
    for (const ms of [14_000, 14_000, 3000]) {
      await clock.advance(ms);
      good.send({ t: 'PING' });
      expect(await messages.next()).toEqual({ type: 'ping' });
    }
    await end(good);
    expect(waits()).toEqual([1001, 2002, 4004, 1001]);
  });

  it('passes on every frame as received, also if it is not JSON, nested too deeply, or binary', async () => {
    const server = await StreamServer.open();
    const frames = recorder<StreamFrame>();
    const messages = recorder<OrderStreamMessage>();
    const stream = orders(server.base, { onFrame: frames, onMessage: messages });
    stream.start();
    const connection = await server.next();
    await connection.message();
    const sent = ['{"t":', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, ' {"t":"PING"} '];
    for (const text of sent) connection.send(text);
    connection.socket.send(Buffer.from([0xff]), { binary: true });
    expect([await messages.next(), await messages.next(), await messages.next(), await messages.next()]).toMatchObject([
      { type: 'invalid', reason: 'is not JSON' },
      { type: 'invalid', reason: 'is nested too deeply to be parsed' },
      { type: 'ping' },
      { type: 'invalid', reason: 'is neither JSON nor UTF-8 text' },
    ]);
    expect(frames.calls.slice(0, 3).map(({ data }) => data.toString())).toEqual(sent);
  });

  it('can be iterated, shows no secret when printed, and ends when closed', async () => {
    const server = await StreamServer.open();
    const stream = orders(server.base);
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of stream) types.push(event.type === 'message' ? event.message.type : event.type);
    })();
    stream.start();
    const connection = await server.next();
    await connection.message();
    connection.send(AUTHORIZED);
    while (!stream.authorized) await new Promise((resolve) => setImmediate(resolve));
    expect(inspect(stream, { depth: 9, showHidden: true })).not.toContain(SECRET_TEXT);
    await Promise.all([stream.close(), stream.close()]);
    await reading;
    expect(types).toEqual(['connected', 'authorized', 'disconnected']);
  });
});

describe('the balance stream', () => {
  it('sends AUTH for its own path and gives all balances, then each that changes, exact [5.5/signature 6.4/auth 6.4/update]', async () => {
    const server = await StreamServer.open();
    const messages = recorder<BalanceStreamMessage>();
    const stream = balances(server.base, { onMessage: messages });
    stream.start();
    const connection = await server.next();
    expect(connection.url).toBe('/balance/ws');
    expect(authFault(await connection.message(), '/balance/ws')).toBeUndefined();
    connection.send('{"t":"success","d":{"l":[{"i":"usdc","b":10000000000000000.000001,"f":5}]},"r":null}');
    connection.send('{"u":"u1","a":"usdc","aop":0,"c":0,"b":9999999999999999.999999,"f":5.000001}');
    expect(await messages.next()).toMatchObject({
      type: 'balances',
      balances: [{ assetId: 'usdc', balance: '10000000000000000.000001', free: '5' }],
    });
    expect(await messages.next()).toMatchObject({
      type: 'balance-update',
      balance: '9999999999999999.999999',
      free: '5.000001',
    });
    expect(stream.authorized).toBe(true);
  });

  it('uses its own address if one is configured', async () => {
    const server = await StreamServer.open();
    const address = `${server.base.replace('http', 'ws')}/private/balance/ws`;
    const stream = balances('', { addresses: { balanceWs: address } });
    expect(stream.url).toBe(address);
    stream.start();
    const connection = await server.next();
    expect(connection.url).toBe('/private/balance/ws');
    expect(authFault(await connection.message(), '/balance/ws')).toBeUndefined();
  });
});

/** A server that authorizes as the exchange does, by its own clock, which every HTTP response has in its `Date`. */
async function strict(offsetMs: number) {
  const http = createServer((_request, response) => {
    response.sendDate = false;
    response.writeHead(426, { date: new Date(Date.now() + offsetMs).toUTCString() }).end();
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server = new WebSocketServer({ server: http });
  const verdicts: (string | undefined)[] = [];
  server.on('connection', (socket, request) => {
    socket.once('message', (data) => {
      const fault = authFault(JSON.parse(String(data)), request.url ?? '', (Date.now() + offsetMs) / 1000);
      verdicts.push(fault);
      socket.send(JSON.stringify(fault ? { t: 'error', d: { error: fault } } : AUTHORIZED));
    });
  });
  onTestFinished(async () => {
    for (const client of server.clients) client.terminate();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { base: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, verdicts };
}

const clockOff = (ms: number): Clock => ({
  nowMs: () => systemClock.nowMs() + ms,
  elapsedMs: () => systemClock.elapsedMs(),
  nowMicros: () => systemClock.nowMicros() + ms * 1000,
  sleep: (duration, signal) => systemClock.sleep(duration, signal),
});

describe('AUTH with a wrong clock', () => {
  it.each([
    ['the exchange is 2 minutes ahead', 120_000, 0],
    ['we are an hour ahead', 0, 3_600_000],
  ])('is refused once, then the exchange is asked for its time: %s', async (_, serverOff, clientOff) => {
    const { base, verdicts } = await strict(serverOff);
    const messages = recorder<OrderStreamMessage>();
    const stream = orders(base, { clock: clockOff(clientOff), onMessage: messages });
    stream.start();
    expect((await messages.next()).type).toBe('error');
    expect((await messages.next()).type).toBe('authorized');
    expect(verdicts).toEqual([expect.stringContaining('the time is'), undefined]);
  });

  it('is accepted at once when a client has measured the time already [5.5/drift]', async () => {
    const { base, verdicts } = await strict(-300_000);
    const serverTime = new ServerTime(systemClock);
    await serverTime.measure(base, 5000);
    const messages = recorder<OrderStreamMessage>();
    orders(base, { serverTime, onMessage: messages }).start();
    expect(await messages.next()).toEqual({ type: 'authorized' });
    expect(verdicts).toEqual([undefined]);
  });
});
