import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestExchange, type TestExchange } from '../support/exchange.js';
import type { TestSocket } from '../support/test-socket.js';
import { until } from '../support/until.js';
import { openEvent } from './server-support.js';

/** A client that completes the WebSocket handshake, subscribes, and never reads. */
async function deafReader(server: TestExchange, eventId: string): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  const key = Buffer.alloc(16).toString('base64');
  const upgrade = ['Host: x', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
  socket.write(`GET /event/ws HTTP/1.1\r\n${upgrade.join('\r\n')}\r\nSec-WebSocket-Key: ${key}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  socket.write(maskedText(JSON.stringify({ t: 'SUBSCRIBE', e: eventId })));
  return socket;
}

/** A masked text frame of up to 125 bytes, with a mask of zeros. */
const maskedText = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

const metric = async (server: TestExchange, name: string): Promise<number> => {
  const text = await server.server.metrics.registry.getSingleMetricAsString(name);
  return text
    .split('\n')
    .filter((line) => line.startsWith(name))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

describe('readers', () => {
  it('that never read are cut off beyond a bound, while the others get every frame', async () => {
    const server = await startTestExchange({ events: 0, quirks: 'heartbeat=off' });
    const event = openEvent(server.core, 'readers', Array(50).fill(0.5));
    const good = await server.connect('/event/ws');
    let frames = 0;
    good.ws.on('message', () => {
      frames += 1;
    });
    const deaf = await Promise.all(Array.from({ length: 5 }, () => deafReader(server, event.eventId)));
    good.send({ t: 'SUBSCRIBE', e: event.eventId });
    await until(() => frames === 2);
    // No keep-alive: an idle connection would be closed during the next control call.
    const headers = { 'X-Control-Token': server.ready.control.token, connection: 'close' };
    await server.request('POST', '/_control/load', { headers, body: JSON.stringify({ framesPerSecond: 20_000 }) });
    await until(async () => (await metric(server, 'chancery_exchange_slow_readers_total')) === 5);
    await server.control('POST', '/load', { framesPerSecond: 0 });
    const { sent } = (await server.control('GET', '/load')).body;
    await until(() => frames === sent + 2);
    expect(await metric(server, 'chancery_exchange_stream_sockets')).toBe(1);
    expect(deaf.every((socket) => !socket.destroyed)).toBe(true);
    expect(good.closed).toBeUndefined();
  });

  it('that send requests without reading the responses are disconnected too', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'readers', Array(50).fill(0.5));
    const deaf = await deafReader(server, event.eventId);
    const ask = maskedText(JSON.stringify({ t: 'REQUEST_DATA', e: event.eventId }));
    const asks = Buffer.concat(Array(500).fill(ask));
    await until(async () => {
      deaf.write(asks);
      return (await metric(server, 'chancery_exchange_slow_readers_total')) === 1;
    });
    expect((await server.get('/api/coins')).status).toBe(200);
  });

  it('may be a thousand, and each gets each delta', async () => {
    const server = await startTestExchange({ events: 0, quirks: 'heartbeat=off' });
    const event = openEvent(server.core, 'crowd', [0.5]);
    const sockets: TestSocket[] = [];
    for (let n = 0; n < 20; n++) {
      sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => server.connect('/event/ws')))));
    }
    for (const socket of sockets) socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    for (const socket of sockets) await socket.next('PRICES_DATA');
    await server.control('POST', '/load', { framesPerSecond: 10 });
    await until(() => sockets.every((socket) => socket.waiting.length >= 3));
    await server.control('POST', '/load', { framesPerSecond: 0 });
    const { sent } = (await server.control('GET', '/load')).body;
    await until(() => sockets.every((socket) => socket.waiting.length === sent));
    const [first] = sockets;
    expect(sockets.every((socket) => socket.waiting.join() === first?.waiting.join())).toBe(true);
    expect(await metric(server, 'chancery_exchange_stream_sockets')).toBe(1000);
  });

  it('get a close frame when the server stops, which it does although one never reads and responses are delayed', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'closing', [0.5]);
    const socket = await server.connect('/event/ws');
    await deafReader(server, event.eventId);
    await server.control('POST', '/faults', { kind: 'slow', ms: 60_000, stream: 'rest' });
    await server.control('POST', '/faults', { kind: 'slow', ms: 60_000, stream: 'order-book' });
    socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    const held = server.get('/api/coins');
    await until(async () => (await server.control('GET', '/faults')).body.used.length === 2);
    const start = performance.now();
    await server.server.stop();
    // The responses are delayed by a minute.
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(await socket.end()).toBe(1001);
    expect((await held).status).toBe(500);
    await expect(fetch(`${server.url}/api/coins`)).rejects.toThrow('fetch failed');
  });
});
