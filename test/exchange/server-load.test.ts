import { describe, expect, it } from 'vitest';
import { startTestExchange } from '../support/exchange.js';
import { until } from '../support/until.js';
import { marketOf, openEvent } from './server-support.js';

describe('the load generator', () => {
  it('sends single-entry deltas at the requested rate, and counts them per market', async () => {
    const server = await startTestExchange({ events: 0, load: 2000 });
    const events = [0, 1, 2].map((n) => openEvent(server.core, `load ${n}`, [0.5, 0.3]));
    const socket = await server.connect('/event/ws');
    /** Frames per market, and the last entry. */
    const seen = new Map<string, { frames: number; last: object }>();
    let frames = 0;
    /** When each 500th frame was received. */
    const times: number[] = [];
    socket.ws.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.t !== 'PRICES_DATA_DELTA') return;
      expect(message.d).toHaveLength(1);
      const { o, ...last } = message.d[0];
      seen.set(o, { frames: (seen.get(o)?.frames ?? 0) + 1, last });
      frames += 1;
      if (frames % 500 === 0) times.push(performance.now());
    });
    const start = performance.now();
    for (const { eventId } of events) socket.send({ t: 'SUBSCRIBE', e: eventId });
    await until(() => frames >= 4000);
    const seconds = (performance.now() - start) / 1000;
    // Of the frames that a busy process could not send in time, a quarter of a second is caught up.
    expect(seconds).toBeGreaterThan(1.74);
    // At this rate 500 frames take a quarter of a second; a busy machine delays some.
    expect(Math.min(...times.slice(1).map((at, n) => at - (times[n] ?? 0)))).toBeLessThan(1000);

    const stopped = await server.control('POST', '/load', { framesPerSecond: 0 });
    expect(stopped.body.framesPerSecond).toBe(0);
    const { body } = await server.control('GET', '/load');
    await until(() => frames === body.sent);
    expect(body.markets).toHaveLength(6);
    for (const { marketId, frames: sent, c, b, a } of body.markets) {
      expect(seen.get(marketId)).toEqual({ frames: sent, last: { c, b, a } });
    }
    // The snapshot has the last prices of the stream.
    const [event] = events;
    socket.waiting.length = 0;
    const prices = await socket.ask({ t: 'REQUEST_DATA', e: event?.eventId });
    for (const { o, ...entry } of prices.d) expect(entry).toEqual(seen.get(o)?.last);
  });

  it('walks by one cent a frame, between 0 and 1, and gives the same walk for the same seed', async () => {
    const walk = async (seed: number) => {
      const server = await startTestExchange({ events: 0, seed, load: 3000 });
      const event = openEvent(server.core, 'walk', [0.97]);
      const socket = await server.connect('/event/ws');
      socket.send({ t: 'SUBSCRIBE', e: event.eventId });
      const chances: number[] = [];
      while (chances.length < 300) {
        const { c, b, a } = (await socket.next('PRICES_DATA_DELTA')).d[0];
        expect([b, a]).toEqual([Math.round(c * 100 - 1) / 100, Math.round(c * 100 + 1) / 100]);
        expect(b > 0 && a < 1).toBe(true);
        chances.push(c);
      }
      return chances;
    };
    const chances = await walk(5);
    for (const [n, c] of chances.slice(1).entries()) expect(Math.abs(c - (chances[n] ?? 0))).toBeCloseTo(0.01, 9);
    expect(await walk(5)).toEqual(chances);
    expect(await walk(6)).not.toEqual(chances);
  });

  it('sends and counts nothing without subscribers, and nothing on a resolved market', async () => {
    const server = await startTestExchange({ events: 0, load: 1000 });
    const event = openEvent(server.core, 'load', [0.5, 0.5]);
    const [first, second] = [marketOf(event, 0), marketOf(event, 1)];
    const socket = await server.connect('/event/ws');
    expect((await server.control('GET', '/load')).body).toMatchObject({ framesPerSecond: 1000, sent: 0 });
    socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    await until(() => socket.waiting.length > 10);
    server.core.resolveMarket(event.eventId, first.marketId, 'YES');
    await until(() => socket.waiting.some((text) => JSON.parse(text).d?.[0]?.c === 1));
    socket.waiting.length = 0;
    await until(() => socket.waiting.length > 50);
    expect(socket.waiting.every((text) => JSON.parse(text).d[0].o === second.marketId)).toBe(true);
  });

  it('takes no rate that is no number', async () => {
    const server = await startTestExchange();
    for (const body of [{}, { framesPerSecond: '5' }, { framesPerSecond: -1 }, { framesPerSecond: 1, more: 1 }]) {
      expect([body, (await server.control('POST', '/load', body)).status]).toEqual([body, 400]);
    }
  });
});
