import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import {
  type ConnectedEvent,
  type ConnectFailedEvent,
  type DisconnectedEvent,
  type OrderBookMessage,
  OrderBookStream,
  type StreamFrame,
  type StreamOptions,
} from '../../client/index.js';
import { systemClock } from '../../core/index.js';
import { ManualClock } from '../support/clocks.js';
import { recorder, StreamServer, serve } from './support.js';

function streamOf(base: string, options: Partial<StreamOptions<OrderBookMessage>> = {}): OrderBookStream {
  const stream = new OrderBookStream({ addresses: { base }, reconnectBaseMs: 1, reconnectCapMs: 20, ...options });
  onTestFinished(() => stream.close());
  return stream;
}

const prices = (e: string, c: number, t = 'PRICES_DATA_DELTA') => ({ t, e, d: [{ o: `${e}-m`, c, b: 0, a: 1 }] });

/** Another stream from the same server: when it has received a message, other streams had the time to receive theirs. */
async function readerBeside(server: StreamServer): Promise<{ receives(bytes: number): Promise<void> }> {
  const frames = recorder<StreamFrame>();
  const stream = streamOf(server.base, { onFrame: frames });
  stream.start();
  const connection = await server.next();
  return {
    async receives(bytes) {
      connection.send(`"${'y'.repeat(bytes)}"`);
      await frames.next();
    },
  };
}

describe('the order book stream', () => {
  it('sends SUBSCRIBE, REQUEST_DATA and UNSUBSCRIBE as documented and gives every message of part 6.1 [6.1/subscribe 6.1/unsubscribe 6.1/request-data 6.1/ping 6.1/error]', async () => {
    const server = await StreamServer.open();
    const messages = recorder<OrderBookMessage>();
    const stream = streamOf(server.base, { onMessage: messages });
    stream.subscribe('e1');
    expect(stream.requestData('e1')).toBe(false);
    stream.start();
    const connection = await server.next();
    expect(connection.url).toBe('/event/ws');
    expect(await connection.message()).toEqual({ t: 'SUBSCRIBE', e: 'e1' });
    stream.subscribe('e2');
    expect(await connection.message()).toEqual({ t: 'SUBSCRIBE', e: 'e2' });
    expect(stream.requestData('e1')).toBe(true);
    expect(await connection.message()).toEqual({ t: 'REQUEST_DATA', e: 'e1' });
    stream.unsubscribe('e2');
    stream.unsubscribe('never');
    expect(await connection.message()).toEqual({ t: 'UNSUBSCRIBE', e: 'e2' });
    expect([...stream.subscriptions]).toEqual(['e1']);
    const sent = [
      { t: 'SUBSCRIBED', e: 'e1' },
      prices('e1', 0.5, 'PRICES_DATA'),
      prices('e1', 0.6),
      { t: 'PING' },
      { t: 'UNSUBSCRIBED', e: 'e2' },
      { t: 'ERROR', r: 'what?' },
      { t: 'SURPRISE' },
    ];
    for (const message of sent) connection.send(message);
    const got: string[] = [];
    for (const _ of sent) got.push((await messages.next()).type);
    expect(got).toEqual(['subscribed', 'prices', 'prices', 'ping', 'unsubscribed', 'error', 'unknown']);
    expect(messages.calls[1]).toMatchObject({ snapshot: true, prices: [{ marketId: 'e1-m', chance: 0.5 }] });
    expect(messages.calls[2]).toMatchObject({ snapshot: false, prices: [{ marketId: 'e1-m', chance: 0.6 }] });
  });

  it('passes on a frame above the parsing limits as text, reports why, and continues', async () => {
    const server = await StreamServer.open();
    const frames = recorder<StreamFrame>();
    const messages = recorder<OrderBookMessage>();
    const stream = streamOf(server.base, { onFrame: frames, onMessage: messages });
    stream.start();
    const connection = await server.next();
    const text = `{"t":"PRICES_DATA","e":"e1","d":[${'{},'.repeat(5_000_000)}{}]}`;
    connection.socket.send(text);
    connection.send({ t: 'PING' });
    expect(await messages.next()).toMatchObject({ type: 'invalid', reason: expect.stringMatching(/^holds more than/) });
    expect(await messages.next()).toEqual({ type: 'ping' });
    expect(frames.calls[0]).toMatchObject({ encoding: 'text', parsed: undefined });
    expect(JSON.parse(frames.calls[0]?.bodyJson ?? '') === text).toBe(true);
  });

  it('passes on every frame as received, with its time, before its message, also if it is not JSON, not UTF-8 or binary [6/envelope]', async () => {
    const server = await StreamServer.open();
    const log: string[] = [];
    const frames = recorder<StreamFrame>();
    const messages = recorder<OrderBookMessage>();
    const stream = streamOf(server.base, {
      onFrame: (frame) => {
        log.push('frame');
        frames(frame);
      },
      onMessage: (message) => {
        log.push('message');
        messages(message);
      },
    });
    stream.start();
    const connection = await server.next();
    const before = Date.now() * 1000;
    const spaced = ' {"t" : "PING"}\n';
    connection.send(spaced);
    connection.send('{"t":');
    connection.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    connection.socket.send(Buffer.from('{"t":"PING"}'), { binary: true });
    connection.socket.send('');
    connection.send(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    const types: unknown[] = [];
    for (let n = 0; n < 6; n++) types.push(await messages.next());
    expect(types).toMatchObject([
      { type: 'ping' },
      { type: 'invalid', reason: 'is not JSON' },
      { type: 'invalid', reason: 'is neither JSON nor UTF-8 text' },
      { type: 'ping' },
      { type: 'invalid', reason: 'is not JSON' },
      { type: 'invalid', reason: 'is nested more than 1000 deep' },
    ]);
    expect(log).toEqual(Array.from({ length: 6 }, () => ['frame', 'message']).flat());
    const [first, second, third, fourth] = frames.calls;
    expect(first).toMatchObject({ bodyJson: spaced, binary: false, connectionId: stream.connectionId });
    expect(first?.data.toString()).toBe(spaced);
    expect(second).toMatchObject({ bodyJson: '"{\\"t\\":"', encoding: 'text' });
    expect(third).toMatchObject({ bodyJson: '"//4="', encoding: 'base64', binary: false });
    expect(fourth).toMatchObject({ bodyJson: '{"t":"PING"}', binary: true });
    const times = frames.calls.map((frame) => frame.receivedAtMicros);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(before - 10_000);
  });

  it('connects again when the exchange drops it, with a new connection ID, and subscribes again', async () => {
    const server = await StreamServer.open();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = streamOf(server.base, { onConnected: connected, onDisconnected: disconnected });
    stream.subscribe('e1');
    stream.subscribe('e2');
    stream.start();
    const first = await server.next();
    const { connectionId: firstId } = await connected.next();
    expect([await first.message(), await first.message()]).toEqual([
      { t: 'SUBSCRIBE', e: 'e1' },
      { t: 'SUBSCRIBE', e: 'e2' },
    ]);
    stream.unsubscribe('e1');
    first.socket.terminate();
    const lost = await disconnected.next();
    expect(lost).toMatchObject({
      connectionId: firstId,
      cause: 'the connection ended without a close frame',
      oversized: undefined,
    });
    const second = await server.next();
    expect(await second.message()).toEqual({ t: 'SUBSCRIBE', e: 'e2' });
    const again = await connected.next();
    expect(again.connectionId).not.toBe(firstId);
    expect(again.url).toBe(stream.url);
    expect(again.atMicros).toBeGreaterThanOrEqual(lost.atMicros);
    second.socket.close(1012, 'restarting');
    expect((await disconnected.next()).cause).toBe('closed by the exchange (code 1012, "restarting")');
  });

  it.each([
    ['cut', (socket: WebSocket) => socket.terminate()],
    ['closed', (socket: WebSocket) => socket.close(1012)],
  ])('was complete until its last frame when the exchange has %s it', async (_, end) => {
    const server = await StreamServer.open();
    const disconnected = recorder<DisconnectedEvent>();
    const frames = recorder<StreamFrame>();
    const stream = streamOf(server.base, { onDisconnected: disconnected, onFrame: frames });
    stream.start();
    const connection = await server.next();
    connection.send(prices('e', 0.5));
    const { receivedAtMicros } = await frames.next();
    await systemClock.sleep(30);
    end(connection.socket);
    const { atMicros, completeUntilMicros } = await disconnected.next();
    expect(completeUntilMicros).toBe(receivedAtMicros);
    expect(atMicros).toBeGreaterThan(receivedAtMicros + 20_000);
  });

  it.each([
    ['reading was paused', 'pause'],
    ['the process was stopped', 'stop'],
  ])('was complete until the last frame before %s when frames then waited to be read', async (_, how) => {
    const server = await StreamServer.open();
    const disconnected = recorder<DisconnectedEvent>();
    const frames = recorder<StreamFrame>();
    const stream = streamOf(server.base, { onDisconnected: disconnected, onFrame: frames });
    stream.start();
    const connection = await server.next();
    connection.send(prices('e', 0.5));
    const { receivedAtMicros, waitedMs } = await frames.next();
    expect(waitedMs).toBe(0);
    if (how === 'pause') stream.pause();
    connection.send(prices('e', 0.6));
    connection.socket.close(1012);
    if (how === 'pause') await systemClock.sleep(30);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    if (how === 'pause') stream.resume();
    const waited = await frames.next();
    expect(waited.receivedAtMicros).toBeGreaterThan(receivedAtMicros + 20_000);
    expect(waited.completeUntilMicros).toBe(receivedAtMicros);
    expect(waited.waitedMs).toBeGreaterThan(how === 'pause' ? 20 : 390);
    expect(waited.waitedMs).toBeLessThan((waited.receivedAtMicros - receivedAtMicros) / 1000 + 110);
    expect((await disconnected.next()).completeUntilMicros).toBe(receivedAtMicros);
  });

  it('is complete until its last frame again once the exchange has answered a ping', async () => {
    const server = await StreamServer.open();
    const disconnected = recorder<DisconnectedEvent>();
    const frames = recorder<StreamFrame>();
    const connected = recorder<ConnectedEvent>();
    const stream = streamOf(server.base, {
      onConnected: connected,
      onDisconnected: disconnected,
      onFrame: frames,
      keepAliveMs: 3_600_000,
    });
    stream.start();
    const connection = await server.next();
    // The client, too: a pause that ends before it has the connection is none.
    await connected.next();
    stream.pause();
    connection.send(prices('e', 0.5));
    const pinged = once(connection.socket, 'ping');
    stream.resume();
    await frames.next();
    await pinged;
    connection.send(prices('e', 0.6));
    const after = await frames.next();
    expect(after.completeUntilMicros).toBe(after.receivedAtMicros);
    expect(after.waitedMs).toBe(0);
    connection.socket.terminate();
    expect((await disconnected.next()).completeUntilMicros).toBe(after.receivedAtMicros);
  });

  it('reports a frame above the maximum size with its length and first bytes, and continues with a new connection', async () => {
    const server = await StreamServer.open();
    const disconnected = recorder<DisconnectedEvent>();
    const frames = recorder<StreamFrame>();
    const stream = streamOf(server.base, { maxFrameBytes: 10_000, onDisconnected: disconnected, onFrame: frames });
    stream.start();
    const first = await server.next();
    first.send(`"${'x'.repeat(9998)}"`);
    first.socket.ping('still here');
    first.send(`"${'y'.repeat(20_000)}"`);
    const { receivedAtMicros } = await frames.next();
    const lost = await disconnected.next();
    expect(lost).toMatchObject({
      cause: 'the exchange sent a frame above the maximum of 10000 bytes',
      oversized: { declaredBytes: 20_002, firstBytes: Buffer.from(`"${'y'.repeat(4095)}`) },
      completeUntilMicros: receivedAtMicros,
    });
    expect(lost.oversized?.receivedAtMicros).toBeGreaterThanOrEqual(receivedAtMicros);
    expect(frames.calls.map((frame) => frame.data.length)).toEqual([10_000]);
    const second = await server.next();
    second.socket.send('z'.repeat(6000), { fin: false });
    second.socket.send('z'.repeat(6000), { fin: false });
    expect((await disconnected.next()).oversized).toMatchObject({
      declaredBytes: null,
      firstBytes: Buffer.from('z'.repeat(4096)),
    });
    await server.next();
  });

  it('connects again when the exchange declares a large frame and sends only its beginning', async () => {
    const server = await StreamServer.open();
    const disconnected = recorder<DisconnectedEvent>();
    streamOf(server.base, { onDisconnected: disconnected }).start();
    const { wire } = await server.next();
    wire.write(Buffer.from([0x81, 127, 0, 0, 0, 1, 0, 0]));
    wire.write(Buffer.from([0, 0, 0x7b]));
    const { oversized } = await disconnected.next();
    expect([oversized?.declaredBytes, oversized?.firstBytes.toString('utf8', 0, 1)]).toEqual([2 ** 32, '{']);
    await server.next();
  });

  it('backs off after oversized frames, also if valid data was received before each', async () => {
    const server = await StreamServer.open();
    const clock = new ManualClock();
    const disconnected = recorder<DisconnectedEvent>();
    const messages = recorder<OrderBookMessage>();
    streamOf(server.base, {
      clock,
      random: () => 1,
      reconnectBaseMs: 100,
      reconnectCapMs: 350,
      keepAliveMs: 1e9,
      maxFrameBytes: 1000,
      onDisconnected: disconnected,
      onMessage: messages,
    }).start();
    const refuse = async (afterMs: number) => {
      const connection = await server.next();
      connection.send(prices('e', 0.5));
      await messages.next();
      await clock.advance(afterMs);
      connection.send('x'.repeat(1001));
      await disconnected.next();
    };
    for (const waitMs of [100, 200, 350, 350]) {
      await refuse(0);
      await clock.advance(waitMs - 1);
      await setImmediate();
      const { length } = server.connections;
      await clock.advance(1);
      while (server.connections.length === length) await setImmediate();
    }
    // After a connection that lasted longer than the longest delay, the delays begin again.
    await refuse(400);
    await clock.advance(100);
    await server.next();
  });

  it('accepts a frame of 10 MB with the default limits', async () => {
    const server = await StreamServer.open();
    const frames = recorder<StreamFrame>();
    const stream = streamOf(server.base, { onFrame: frames });
    stream.start();
    (await server.next()).send(`"${'x'.repeat(10_000_000)}"`);
    expect((await frames.next()).data.length).toBe(10_000_002);
  });

  it('backs off exponentially while no valid data is received, and reconnects soon after valid data', async () => {
    const server = await StreamServer.open();
    const clock = new ManualClock();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const messages = recorder<OrderBookMessage>();
    const stream = streamOf(server.base, {
      clock,
      random: () => 1,
      reconnectBaseMs: 100,
      reconnectCapMs: 350,
      keepAliveMs: 1e9,
      onConnected: connected,
      onDisconnected: disconnected,
      onMessage: messages,
    });
    const lose = async (say: unknown[]) => {
      const connection = await server.next();
      await connected.next();
      for (const message of say) {
        connection.send(message);
        await messages.next();
      }
      connection.socket.terminate();
      await disconnected.next();
      return clock.nowMs();
    };
    stream.start();
    const useless = [[], [{ t: 'PING' }], [{ t: 'SUBSCRIBED', e: 'e' }, { t: 'ERROR', r: 'no' }, '{', prices('e', 7)]];
    const waits = [100, 200, 350];
    for (const [n, say] of useless.entries()) {
      await lose(say);
      const before = server.connections.length;
      await clock.advance((waits[n] ?? 0) - 1);
      expect(server.connections.length).toBe(before);
      await clock.advance(1);
    }
    await lose([prices('e', 0.5)]);
    await clock.advance(100);
    await lose([]);
    await clock.advance(199);
    expect(server.connections.length).toBe(5);
    await clock.advance(1);
    await server.next();
  });

  it('reports why it cannot connect, and retries: refused, not a WebSocket, Retry-After', async () => {
    const failed = recorder<ConnectFailedEvent>();
    const base = await serve((_, response) => response.writeHead(404).end());
    const port = new URL(base).port;
    const refused = streamOf(`http://127.0.0.2:${port}`, { onConnectFailed: failed });
    refused.start();
    for (const event of [await failed.next(), await failed.next()]) {
      expect(event.error).toMatchObject({ code: 'connection', retryable: true });
      expect(event.error.message).toMatch(/^order book stream ws:\/\/127\.0\.0\.2:\d+\/event\/ws: .*ECONNREFUSED/);
    }
    await refused.close();
    const upgrades = recorder<ConnectFailedEvent>();
    const busy = await StreamServer.open({
      verifyClient: (_info, answer) => answer(false, 429, 'slow', { 'Retry-After': '30' }),
    });
    const clock = new ManualClock();
    const waiting = streamOf(busy.base, { onConnectFailed: upgrades, clock, random: () => 0, reconnectCapMs: 30_000 });
    waiting.start();
    const event = await upgrades.next();
    expect(event.error).toMatchObject({ status: 429, retryAfterMs: 30_000 });
    expect(event.retryInMs).toBe(30_000);
    await clock.advance(29_999);
    expect(upgrades.calls.length).toBe(1);
    await clock.advance(1);
    await upgrades.next();
  });

  it.each([
    [5000, 5000],
    [60_000, 90_000],
  ])(
    'connects again after %j ms with reconnectCapMs %j when a handshake requires 10 minutes',
    async (ms, reconnectCapMs) => {
      const failed = recorder<ConnectFailedEvent>();
      const busy = await StreamServer.open({
        verifyClient: (_info, answer) => answer(false, 429, 'slow', { 'Retry-After': '600' }),
      });
      const clock = new ManualClock();
      streamOf(busy.base, { onConnectFailed: failed, clock, random: () => 0, reconnectCapMs }).start();
      expect((await failed.next()).retryInMs).toBe(ms);
      await clock.advance(ms);
      await failed.next();
    },
  );

  it('closes a connection on which no bytes are received, but not one that only answers pings', async () => {
    const server = await StreamServer.open();
    const clock = new ManualClock();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = streamOf(server.base, {
      clock,
      keepAliveMs: 200,
      onConnected: connected,
      onDisconnected: disconnected,
    });
    stream.start();
    const first = await server.next();
    await connected.next();
    const other = await readerBeside(server);
    for (let pings = 0; pings < 4; pings++) {
      const pinged = new Promise((resolve) => first.socket.once('ping', resolve));
      await clock.advance(200);
      await pinged;
      await other.receives(1);
    }
    expect(disconnected.calls).toEqual([]);
    first.socket.pause();
    await clock.advance(400);
    expect((await disconnected.next()).cause).toBe('no data received for 200 ms');
    await clock.advance(20);
    await server.next();
  });

  it('does not close a connection because of its own pause', async () => {
    const server = await StreamServer.open({ autoPong: false });
    const clock = new ManualClock();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = streamOf(server.base, {
      clock,
      keepAliveMs: 100,
      onConnected: connected,
      onDisconnected: disconnected,
    });
    stream.start();
    await connected.next();
    await clock.advance(100);
    stream.pause();
    await clock.advance(1000);
    expect(disconnected.calls).toEqual([]);
    stream.resume();
    await clock.advance(100);
    expect(disconnected.calls).toEqual([]);
    await clock.advance(100);
    expect((await disconnected.next()).cause).toBe('no data received for 100 ms');
  });

  it('stops reading while paused, also on the next connection, and loses nothing', async () => {
    const server = await StreamServer.open();
    const frames = recorder<StreamFrame>();
    const disconnected = recorder<DisconnectedEvent>();
    const clock = new ManualClock();
    const stream = streamOf(server.base, { clock, keepAliveMs: 20, onFrame: frames, onDisconnected: disconnected });
    stream.start();
    const connection = await server.next();
    connection.send(prices('e', 0.1));
    await frames.next();
    stream.pause();
    for (let n = 0; n < 3; n++) connection.send(prices('e', 0.2));
    connection.send(`"${'x'.repeat(8_000_000)}"`);
    const other = await readerBeside(server);
    await other.receives(8_000_000);
    await clock.advance(1000);
    expect(frames.calls.length).toBe(1);
    expect(connection.socket.bufferedAmount).toBeGreaterThan(1_000_000);
    expect(disconnected.calls).toEqual([]);
    stream.resume();
    for (let n = 0; n < 4; n++) await frames.next();
    expect(frames.calls.at(-1)?.data.length).toBe(8_000_002);
    stream.pause();
    stream.reconnect('for the test');
    expect((await disconnected.next()).cause).toBe('for the test');
    await clock.advance(20);
    const next = await server.next();
    next.send(prices('e', 0.3));
    await other.receives(8_000_000);
    expect(frames.calls.length).toBe(5);
    stream.resume();
    await frames.next();
  });

  it('does not close a connection on which one frame takes longer than the ping interval', async () => {
    const server = await StreamServer.open({ autoPong: false });
    const frames = recorder<StreamFrame>();
    const disconnected = recorder<DisconnectedEvent>();
    const clock = new ManualClock();
    const stream = streamOf(server.base, { clock, keepAliveMs: 1000, onFrame: frames, onDisconnected: disconnected });
    stream.start();
    const { socket } = await server.next();
    const other = await readerBeside(server);
    const wire = (socket as unknown as { readonly _socket: Socket })._socket;
    const text = JSON.stringify(prices('e', 0.5));
    // The head of an unmasked text frame, then its text byte by byte, one per beat.
    wire.write(Buffer.from([0x81, text.length]));
    for (const byte of Buffer.from(text)) {
      await new Promise((resolve) => wire.write(Buffer.from([byte]), resolve));
      await other.receives(1);
      await clock.advance(1000);
    }
    expect((await frames.next()).data.toString()).toBe(text);
    expect(disconnected.calls).toEqual([]);
    await clock.advance(2000);
    expect((await disconnected.next()).cause).toBe('no data received for 1000 ms');
  });

  it('is an iterable that distinguishes interruptions from silence', async () => {
    const server = await StreamServer.open();
    const stream = streamOf(server.base);
    const seen: string[] = [];
    stream.subscribe('e');
    const reading = (async () => {
      for await (const event of stream) {
        seen.push(event.type === 'message' ? event.message.type : event.type);
        if (event.type === 'message' && event.message.type === 'prices') break;
      }
    })();
    stream.start();
    (await server.next()).socket.terminate();
    (await server.next()).send(prices('e', 0.4));
    await reading;
    expect(seen).toEqual(['connected', 'disconnected', 'connected', 'prices']);
  });

  it('slows the socket when a reader is behind, without losing or duplicating anything', async () => {
    const server = await StreamServer.open();
    const frames = recorder<StreamFrame>();
    const stream = streamOf(server.base, { queueCapacity: 50, onFrame: frames });
    const reader = stream[Symbol.asyncIterator]();
    stream.start();
    const connection = await server.next();
    const pad = 'x'.repeat(2000);
    const total = 5000;
    for (let n = 0; n < total; n++) connection.send({ t: 'NEWS', n, pad });
    while (frames.calls.length < 50) await frames.next();
    const other = await readerBeside(server);
    const stalled = async () => {
      await other.receives(8_000_000);
      return frames.calls.length;
    };
    const read = await stalled();
    expect(read).toBeLessThan(300);
    expect(await stalled()).toBe(read);
    const got: unknown[] = [];
    const take = async () => {
      const { value } = await reader.next();
      if (value?.type === 'message') got.push((value.frame.parsed as { n: number }).n);
    };
    // Capacity in the queue must not undo the pause of another owner.
    stream.pause();
    while (got.length < read) await take();
    expect(await stalled()).toBe(read);
    stream.resume();
    while (got.length < total) await take();
    expect(got).toEqual(Array.from({ length: total }, (_, n) => n));
  });

  it('ends a pending read when it is closed, also twice, and yields nothing afterwards', async () => {
    const server = await StreamServer.open();
    const messages = recorder<OrderBookMessage>();
    const stream = streamOf(server.base, { onMessage: messages });
    const reader = stream[Symbol.asyncIterator]();
    stream.start();
    const connection = await server.next();
    expect((await reader.next()).value).toMatchObject({ type: 'connected' });
    const pending = [reader.next(), reader.next(), reader.next()];
    await Promise.all([stream.close(), stream.close()]);
    const ends = await Promise.all(pending);
    expect(ends.map((end) => (end.done ? 'done' : end.value.type))).toEqual(['disconnected', 'done', 'done']);
    expect(ends[0]?.value).toMatchObject({ cause: 'closed by us', wasClean: true });
    expect(await connection.closed).toBe(1000);
    expect(messages.calls).toEqual([]);
    await stream.close();
    expect((await stream[Symbol.asyncIterator]().next()).done).toBe(true);
    stream.start();
    expect(stream.connectionId).toBeUndefined();
  });

  it('passes on every frame that the exchange sent before its close frame', async () => {
    const server = await StreamServer.open();
    const messages = recorder<OrderBookMessage>();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = streamOf(server.base, { onMessage: messages, onConnected: connected, onDisconnected: disconnected });
    stream.start();
    const connection = await server.next();
    await connected.next();
    for (let n = 0; n < 1000; n++) connection.send(prices('e', n / 1000));
    const before = systemClock.nowMicros();
    const closing = stream.close();
    const asked = systemClock.nowMicros();
    await closing;
    const { wasClean, completeUntilMicros } = await disconnected.next();
    const got = messages.calls.flatMap((message) => (message.type === 'prices' ? message.prices : []));
    expect(got.map((price) => price.chance)).toEqual(Array.from({ length: 1000 }, (_, n) => n / 1000));
    expect(wasClean).toBe(true);
    // Frames sent after its close frame may be discarded.
    expect(completeUntilMicros).toBeGreaterThanOrEqual(before);
    expect(completeUntilMicros).toBeLessThanOrEqual(asked);
  });

  it('accepts a close frame that was received in time, however late it is read', async () => {
    const server = await StreamServer.open();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = streamOf(server.base, { onConnected: connected, onDisconnected: disconnected });
    stream.start();
    const connection = await server.next();
    await connected.next();
    const closing = stream.close();
    while (connection.socket.readyState === WebSocket.OPEN) await setImmediate();
    // The close frame is sent; now this process is blocked for longer than the timeout of the close handshake.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    await closing;
    expect(await disconnected.next()).toMatchObject({ cause: 'closed by us', wasClean: true });
  });

  it('terminates a connection without a close frame, and reports that it was not clean', async () => {
    const server = await StreamServer.open();
    const connected = recorder<ConnectedEvent>();
    const disconnected = recorder<DisconnectedEvent>();
    const frames = recorder<StreamFrame>();
    const stream = streamOf(server.base, { onConnected: connected, onDisconnected: disconnected, onFrame: frames });
    stream.start();
    const connection = await server.next();
    await connected.next();
    connection.send(prices('e', 0.5));
    const { receivedAtMicros } = await frames.next();
    connection.socket.pause();
    const before = performance.now();
    await stream.close();
    // The WebSocket library itself waits 30 s for a close frame.
    expect(performance.now() - before).toBeLessThan(25_000);
    const cut = { cause: 'closed by us', wasClean: false, completeUntilMicros: receivedAtMicros };
    expect(await disconnected.next()).toMatchObject(cut);
  });

  it('ends a reader that is waiting when the reader itself returns', async () => {
    const server = await StreamServer.open();
    const stream = streamOf(server.base);
    const reader = stream[Symbol.asyncIterator]();
    const pending = reader.next();
    await reader.return?.();
    expect((await pending).done).toBe(true);
    expect((await reader.next()).done).toBe(true);
  });

  it('closes with its signal: while connected, while it waits to reconnect, and before it started', async () => {
    const server = await StreamServer.open();
    const abort = new AbortController();
    const stream = streamOf(server.base);
    const reader = stream[Symbol.asyncIterator]();
    stream.start(abort.signal);
    const connection = await server.next();
    await reader.next();
    abort.abort();
    await connection.closed;
    expect((await reader.next()).value).toMatchObject({ type: 'disconnected', cause: 'closed by us' });
    expect((await reader.next()).done).toBe(true);
    const late = streamOf(server.base);
    late.start(abort.signal);
    expect((await late[Symbol.asyncIterator]().next()).done).toBe(true);
    const failed = recorder<ConnectFailedEvent>();
    const other = new AbortController();
    const lost = streamOf('http://127.0.0.1:1', {
      reconnectBaseMs: 1e6,
      reconnectCapMs: 1e6,
      random: () => 1,
      onConnectFailed: failed,
    });
    const lostReader = lost[Symbol.asyncIterator]();
    lost.start(other.signal);
    await failed.next();
    other.abort();
    expect((await lostReader.next()).done).toBe(true);
    expect(server.connections.length).toBe(1);
  });
});
