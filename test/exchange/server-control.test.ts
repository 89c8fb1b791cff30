import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TruthPrice, TruthTrade } from '../../exchange/engine/index.js';
import { startTestExchange } from '../support/exchange.js';
import { until } from '../support/until.js';
import { Book, openAccount } from './server-accounts.js';
import { marketOf, openEvent, Traders } from './server-support.js';

const linesOf = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

describe('control calls', () => {
  it('need the control token: wrong or missing answers 401', async () => {
    const server = await startTestExchange();
    const calls = [
      ['GET', '/_control/truth'],
      ['GET', '/_control/truth/trades'],
      ['GET', '/_control/truth/prices'],
      ['GET', '/_control/faults'],
      ['POST', '/_control/faults'],
      ['GET', '/_control/load'],
      ['POST', '/_control/events'],
      ['POST', '/_control/events/x/resolve'],
    ];
    for (const [method = '', path = ''] of calls) {
      for (const headers of [{}, { 'X-Control-Token': 'wrong' }, { 'X-Control-Token': '' }]) {
        const { status, body } = await server.request(method, path, { headers });
        expect([method, path, status, body]).toEqual([
          method,
          path,
          401,
          { status: 401, error: 'Unauthorized', message: expect.any(String) },
        ]);
      }
    }
    expect((await server.request('DELETE', '/_control/faults')).status).toBe(404);
    expect((await server.request('POST', '/_control/events', { body: '{' })).status).toBe(401);
    expect((await server.control('POST', '/events')).status).toBe(400);
  });

  it('POST /_control/events opens an event and answers it as search shows it', async () => {
    const server = await startTestExchange({ events: 0 });
    const category = server.core.categories()[1]?.slug ?? '';
    const markets = [
      { name: 'First', chance: 0.3 },
      { name: 'Sécond ☂', chance: 0.65 },
    ];
    const opened = await server.control('POST', '/events', {
      title: 'Will it?',
      category,
      tags: ['one', 'two'],
      markets,
    });
    expect(opened.status).toBe(200);
    expect(opened.body).toMatchObject({ title: 'Will it?', ti: 'Will it?', category, tags: ['one', 'two'] });
    expect(opened.body.outcomes.map(({ name }: { name: string }) => name)).toEqual(['First', 'Sécond ☂']);
    expect(opened.body.ma.map(({ r }: { r: { p: number }[] }) => r.map(({ p }) => p))).toEqual([
      [0.3, 0.7],
      [0.65, 0.35],
    ]);
    expect((await server.post('/api/events/search')).body.content).toEqual([opened.body]);
    expect((await server.get('/api/tags/popular')).body).toEqual([
      { n: 'one', r: 1 },
      { n: 'two', r: 2 },
    ]);
  });

  it('POST /_control/events rejects an invalid event with 400', async () => {
    const server = await startTestExchange({ events: 0 });
    const category = server.core.categories()[0]?.slug ?? '';
    const fine = { title: 'T', category, tags: [], markets: [{ name: 'M', chance: 0.5 }] };
    const wrong = [
      [],
      { ...fine, title: '' },
      { ...fine, title: 5 },
      { ...fine, category: 'no-such' },
      { ...fine, tags: 'a' },
      { ...fine, markets: [] },
      { ...fine, markets: [{ name: 'M' }] },
      { ...fine, markets: [{ name: 'M', chance: 1.5 }] },
      { ...fine, markets: [{ name: 'M', chance: '0.5' }] },
    ];
    for (const body of wrong)
      expect([body, (await server.control('POST', '/events', body)).status]).toEqual([body, 400]);
    expect((await server.control('POST', '/events', fine)).status).toBe(200);
  });

  it('POST /_control/events/{e}/resolve resolves a market once', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'resolve', [0.5, 0.5]);
    const { marketId } = marketOf(event);
    const resolve = (body: unknown, eventId = event.eventId) =>
      server.control('POST', `/events/${eventId}/resolve`, body);
    for (const body of [{}, { marketId }, { marketId, winner: 'yes' }, { marketId: 5, winner: 'YES' }]) {
      expect([body, (await resolve(body)).status]).toEqual([body, 400]);
    }
    expect((await resolve({ marketId: 'nothing', winner: 'YES' })).status).toBe(404);
    expect((await resolve({ marketId, winner: 'YES' }, 'nothing')).status).toBe(404);
    const { status, body } = await resolve({ marketId, winner: 'YES' });
    expect([status, body.ma[0].r.map(({ p }: { p: number }) => p)]).toEqual([200, [1, 0]]);
    expect((await resolve({ marketId, winner: 'NO' })).status).toBe(400);
  });

  it('POST /_control/trading closes trading: orders are refused until it is opened again', async () => {
    const server = await startTestExchange();
    const [account, book] = [await openAccount(server), await Book.open(server)];
    const place = () => account.post('/orders/limit', { ...book.target('YES'), s: 'BUY', p: 0.2, q: 1 });
    expect((await place()).status).toBe(200);
    expect(await server.control('POST', '/trading', { open: false })).toMatchObject({ body: { open: false } });
    expect(await place()).toMatchObject({ status: 400, body: { message: 'trading is closed' } });
    expect(await server.control('POST', '/trading', { open: true })).toMatchObject({ body: { open: true } });
    expect((await place()).status).toBe(200);
    expect((await server.control('POST', '/trading', {})).status).toBe(400);
  });

  it('GET /_control/truth answers the ledger, balanced', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'truth', [0.5]);
    new Traders(server.core).trade(marketOf(event), 40, 1000);
    const { status, body } = await server.control('GET', '/truth');
    expect(status).toBe(200);
    expect(body).toEqual(JSON.parse(JSON.stringify(server.core.truth())));
    expect(body.identity.balanced).toBe(true);
    expect(body.markets).toContainEqual({
      marketId: marketOf(event).marketId,
      eventId: event.eventId,
      assets: { yes: marketOf(event).yesAssetId, no: marketOf(event).noAssetId },
      openingChance: 0.5,
      shares: { yes: 10, no: 10 },
      volume: 4,
      trades: 1,
      resolved: null,
    });
  });

  it('GET /_control/truth/trades answers every fill since a sequence number as NDJSON', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'trades', [0.5]);
    const traders = new Traders(server.core);
    for (const cents of [40, 41, 42]) traders.trade(marketOf(event), cents);
    const all = await server.control('GET', '/truth/trades');
    expect([all.status, all.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    const trades = linesOf<TruthTrade>(all.text);
    expect(trades.map(({ seq, price, kind, quantity }) => [seq, price, kind, quantity])).toEqual([
      [1, 0.4, 'mint', 10],
      [2, 0.41, 'mint', 10],
      [3, 0.42, 'mint', 10],
    ]);
    expect(Object.keys(trades[0] ?? {})).toEqual([
      'seq',
      'tradeId',
      'eventId',
      'marketId',
      'assetId',
      'price',
      'quantity',
      'takerFee',
      'taker',
      'buyOrderId',
      'sellOrderId',
      'buyer',
      'seller',
      'kind',
      'at',
    ]);
    expect(linesOf<TruthTrade>((await server.control('GET', '/truth/trades?after=2')).text)).toEqual(trades.slice(2));
    expect((await server.control('GET', '/truth/trades?after=3')).text).toBe('');
    for (const after of ['-1', 'x', '1.5', '']) {
      expect((await server.control('GET', `/truth/trades?after=${after}`)).status).toBe(400);
    }
  });

  it('GET /_control/truth/prices answers every change since a sequence number, also many thousands', async () => {
    const server = await startTestExchange({ events: 0 });
    const event = openEvent(server.core, 'prices', [0.5]);
    const traders = new Traders(server.core);
    const prices: TruthPrice[] = [];
    server.core.on('price', ({ chance, bestBid, bestAsk, ...rest }) =>
      prices.push({ ...rest, c: chance, b: bestBid, a: bestAsk }),
    );
    for (let n = 0; n < 1700; n++) traders.cancel(traders.bid(marketOf(event), 1 + (n % 90)));
    const { text } = await server.control('GET', '/truth/prices');
    const lines = linesOf<TruthPrice>(text);
    expect(lines.slice(-prices.length)).toEqual(prices);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, n) => n + 1));
    expect(prices.length).toBe(3400);
    const after = linesOf<TruthPrice>((await server.control('GET', `/truth/prices?after=${lines.length - 2}`)).text);
    expect(after).toEqual(prices.slice(-2));
  });

  it('reads the truth no faster than its reader does', async () => {
    const server = await startTestExchange({ events: 0 });
    const rows = 2_000_000;
    let read = 0;
    server.core.pricesAfter = function* (seq) {
      for (read = seq + 1; read <= rows; read++) {
        yield { seq: read, eventId: 'event', marketId: 'market', c: 0.5, b: 0.4, a: 0.6, at: 1e15 + read };
      }
    };
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write(
      `GET /_control/truth/prices HTTP/1.1\r\nHost: x\r\nX-Control-Token: ${server.ready.control.token}\r\n\r\n`,
    );
    let before = -1;
    await until(async () => {
      [before] = [read, await new Promise((resolve) => setTimeout(resolve, 150))];
      return read > 0 && read === before;
    });
    expect(read).toBeLessThan(rows / 4);
    expect((await server.get('/api/coins')).status).toBe(200);
    socket.resume();
    await until(() => read > before);
  });
});
