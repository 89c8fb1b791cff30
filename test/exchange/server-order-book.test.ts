import { describe, expect, it } from 'vitest';
import type { EventView, PriceChange } from '../../exchange/engine/index.js';
import { startFleet } from '../bots/support.js';
import { startTestExchange } from '../support/exchange.js';
import { marketOf, openEvent, Traders } from './server-support.js';

/** Changes that are compared while bots trade. */
const DELTAS = 200;

const entriesOf = (event: EventView | undefined) =>
  event?.markets.map((m) => ({ o: m.marketId, c: m.chance, b: m.bestBid, a: m.bestAsk }));

async function oneEvent(chances: readonly number[] = [0.5, 0.25]) {
  const server = await startTestExchange({ events: 0 });
  const event = openEvent(server.core, 'book', chances);
  const socket = await server.connect('/event/ws');
  return { server, event, socket, market: marketOf(event), traders: new Traders(server.core) };
}

describe('the order book stream', () => {
  it('answers SUBSCRIBE with SUBSCRIBED, then PRICES_DATA with every market of the event [2/price-entry 5.5/public 6.1/subscribe]', async () => {
    const { server, event, socket, market, traders } = await oneEvent();
    traders.trade(market, 44);
    traders.bid(market, 40);
    traders.ask(market, 48);
    socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    expect(await socket.next()).toEqual({ t: 'SUBSCRIBED', e: event.eventId });
    const snapshot = await socket.next();
    expect(snapshot).toEqual({ t: 'PRICES_DATA', e: event.eventId, d: entriesOf(server.core.event(event.eventId)) });
    expect(snapshot.d[0]).toEqual({ o: market.marketId, c: 0.44, b: 0.4, a: 0.48 });
  });

  it('has 0 without a bid, 1 without an ask, and the opening chance before the first trade', async () => {
    const { event, socket } = await oneEvent([0.5, 0.25]);
    socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    const { d } = await socket.next('PRICES_DATA');
    expect(d.map(({ c, b, a }: Record<string, number>) => [c, b, a])).toEqual([
      [0.5, 0, 1],
      [0.25, 0, 1],
    ]);
  });

  it('sends one delta per change, with one entry, in order, never merged [6.1/delta]', async () => {
    const { server, event, socket, market, traders } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    await socket.next('PRICES_DATA');
    const changes: PriceChange[] = [];
    server.core.on('price', (change) => changes.push(change));
    const bid = traders.bid(market, 30);
    traders.bid(market, 31);
    traders.bid(market, 29);
    traders.ask(marketOf(event, 1), 70);
    traders.cancel(bid);
    for (const cents of [60, 61, 62]) traders.trade(market, cents);
    expect(changes.length).toBeGreaterThanOrEqual(6);
    for (const { eventId, marketId, chance, bestBid, bestAsk } of changes) {
      expect(await socket.next()).toEqual({
        t: 'PRICES_DATA_DELTA',
        e: eventId,
        d: [{ o: marketId, c: chance, b: bestBid, a: bestAsk }],
      });
    }
  });

  it('carries exactly the changes that the truth lists, in its order, while bots trade [6.1/delta]', async () => {
    const server = await startTestExchange({ events: 6, bots: 12 });
    const socket = await server.connect('/event/ws');
    for (const { eventId } of server.core.events()) socket.send({ t: 'SUBSCRIBE', e: eventId });
    await startFleet({ url: server.url, accounts: server.core.botAccounts(), pace: 50 });
    /** Per market: the snapshot's entry, then its deltas. */
    const seen = new Map<string, string[]>();
    for (let deltas = 0; deltas < DELTAS; ) {
      const message = await socket.next();
      for (const { o, ...rest } of message.d ?? []) {
        if (message.t === 'PRICES_DATA') seen.set(o, []);
        seen.get(o)?.push(JSON.stringify(rest));
        if (message.t === 'PRICES_DATA_DELTA') deltas += 1;
      }
    }
    const truth = new Map<string, string[]>();
    for (const { marketId, c, b, a } of server.core.pricesAfter(0)) {
      const entries = truth.get(marketId) ?? [];
      truth.set(marketId, entries);
      entries.push(JSON.stringify({ c, b, a }));
    }
    expect([...seen.values()].reduce((sum, entries) => sum + entries.length - 1, 0)).toBe(DELTAS);
    for (const [marketId, [snapshot = '', ...deltas]] of seen) {
      if (deltas.length === 0) continue;
      const all = truth.get(marketId) ?? [];
      const at = indexOfRun(all, deltas);
      expect(at).toBeGreaterThanOrEqual(0);
      if (at > 0) expect(all[at - 1]).toBe(snapshot);
    }
  });

  it('answers REQUEST_DATA with PRICES_DATA, with and without a subscription [6.1/request-data]', async () => {
    const { server, event, socket, market, traders } = await oneEvent();
    const now = () => ({ t: 'PRICES_DATA', e: event.eventId, d: entriesOf(server.core.event(event.eventId)) });
    expect(await socket.ask({ t: 'REQUEST_DATA', e: event.eventId })).toEqual(now());
    traders.bid(market, 10);
    expect(await socket.ask({ t: 'REQUEST_DATA', e: event.eventId })).toEqual(now());
  });

  it('stops deltas after UNSUBSCRIBE, of that event only [6.1/unsubscribe]', async () => {
    const { server, event, socket, market, traders } = await oneEvent();
    const other = openEvent(server.core, 'other', [0.5]);
    for (const { eventId } of [event, other]) {
      socket.send({ t: 'SUBSCRIBE', e: eventId });
      await socket.next('PRICES_DATA');
    }
    expect(await socket.ask({ t: 'UNSUBSCRIBE', e: event.eventId })).toEqual({ t: 'UNSUBSCRIBED', e: event.eventId });
    traders.bid(market, 10);
    traders.bid(marketOf(other), 20);
    expect((await socket.next()).e).toBe(other.eventId);
    expect(await socket.ask({ t: 'UNSUBSCRIBE', e: event.eventId })).toEqual({ t: 'UNSUBSCRIBED', e: event.eventId });
  });

  it('sends a delta once to a connection that subscribed twice', async () => {
    const { event, socket, market, traders } = await oneEvent();
    for (let n = 0; n < 2; n++) {
      socket.send({ t: 'SUBSCRIBE', e: event.eventId });
      expect((await socket.next()).t).toBe('SUBSCRIBED');
      expect((await socket.next()).t).toBe('PRICES_DATA');
    }
    traders.bid(market, 10);
    traders.bid(market, 11);
    expect([(await socket.next()).d[0].b, (await socket.next()).d[0].b]).toEqual([0.1, 0.11]);
  });

  it('sends the last prices when a market resolves: chance 1 or 0', async () => {
    const { server, event, socket, market } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e: event.eventId });
    await socket.next('PRICES_DATA');
    server.core.resolveMarket(event.eventId, market.marketId, 'YES');
    expect((await socket.next('PRICES_DATA_DELTA')).d[0]).toMatchObject({ o: market.marketId, c: 1 });
    server.core.resolveMarket(event.eventId, marketOf(event, 1).marketId, 'NO');
    expect((await socket.next('PRICES_DATA_DELTA')).d[0]).toMatchObject({ c: 0 });
  });

  it('answers invalid messages with ERROR and a text in r, and stays open [6.1/error 7.3/order-book]', async () => {
    const { event, socket } = await oneEvent();
    const bad = [
      'not JSON',
      '',
      '{"t":"SUBSCRIBE"',
      '[]',
      'null',
      '7',
      '"SUBSCRIBE"',
      '{}',
      '{"t":5}',
      '{"t":"HELLO","e":"x"}',
      '{"t":"subscribe","e":"x"}',
      '{"t":"SUBSCRIBE"}',
      '{"t":"SUBSCRIBE","e":7}',
      '{"t":"SUBSCRIBE","e":""}',
      '{"t":"SUBSCRIBE","e":null}',
      '{"t":"SUBSCRIBE","e":["x"]}',
      '{"t":"SUBSCRIBE","e":"no such event"}',
      '{"t":"REQUEST_DATA","e":"no such event"}',
      '{"t":"UNSUBSCRIBE","e":"no such event"}',
      '{"t":"SUBSCRIBE","e":"__proto__"}',
      `{"t":"${'x'.repeat(70_000)}"}`,
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      '{"t":"PING"}',
    ];
    for (const text of bad) {
      const answer = await socket.ask(text);
      expect([text.slice(0, 50), answer.t, typeof answer.r]).toEqual([text.slice(0, 50), 'ERROR', 'string']);
      expect(answer.r).not.toBe('');
      expect(JSON.stringify(answer).length).toBeLessThan(1000);
    }
    socket.ws.send(Buffer.from([0xff, 0x00]), { binary: true });
    expect((await socket.next()).r).toContain('binary');
    socket.ws.send(Buffer.from(JSON.stringify({ t: 'SUBSCRIBE', e: event.eventId })), { binary: true });
    expect((await socket.next()).t).toBe('ERROR');
    expect((await socket.ask({ t: 'SUBSCRIBE', e: event.eventId })).t).toBe('SUBSCRIBED');
  });

  it('names the event in an ERROR about one', async () => {
    const { socket } = await oneEvent();
    expect(await socket.ask({ t: 'SUBSCRIBE', e: 'nothing' })).toEqual({
      t: 'ERROR',
      e: 'nothing',
      r: expect.stringContaining('nothing'),
    });
  });

  it('ends the connection of a message over 1 MiB, and of broken protocol, but no other', async () => {
    const { server, event, socket } = await oneEvent();
    const large = await server.connect('/event/ws');
    large.send('x'.repeat(1_100_000));
    expect(await large.end()).toBe(1009);
    const broken = await server.connect('/event/ws');
    // An unmasked frame, which no client may send.
    (broken.ws as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(
      Buffer.from([0x81, 0x01, 0x41]),
    );
    expect(await broken.end()).toBe(1002);
    expect((await socket.ask({ t: 'SUBSCRIBE', e: event.eventId })).t).toBe('SUBSCRIBED');
  });

  it('reads messages of one connection in order, for any number of them', async () => {
    const { event, socket } = await oneEvent();
    for (let n = 0; n < 200; n++)
      socket.send(n % 2 === 0 ? { t: 'REQUEST_DATA', e: event.eventId } : { t: 'X', e: `${n}` });
    for (let n = 0; n < 200; n += 2) {
      expect((await socket.next()).t).toBe('PRICES_DATA');
      expect((await socket.next()).e).toBe(`${n + 1}`);
    }
  });

  it('answers protocol pings, serves paths with a query, and refuses unknown ones with 404', async () => {
    const { server, socket } = await oneEvent();
    const pong = new Promise((resolve) => socket.ws.once('pong', (data) => resolve(String(data))));
    socket.ws.ping('are you there');
    expect(await pong).toBe('are you there');
    const withQuery = await server.connect('/event/ws?source=test');
    expect((await withQuery.ask('?')).t).toBe('ERROR');
    await expect(server.connect('/event')).rejects.toThrow('404');
    await expect(server.connect('/event/ws/')).rejects.toThrow('404');
  });
});

/** Where `run` appears in `all` as consecutive elements; -1 when it does not. */
const indexOfRun = (all: readonly string[], run: readonly string[]): number =>
  all.findIndex((_, at) => run.every((text, n) => all[at + n] === text));
