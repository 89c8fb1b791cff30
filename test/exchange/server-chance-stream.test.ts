import { describe, expect, it } from 'vitest';
import { systemClock } from '../../core/index.js';
import { startTestExchange } from '../support/exchange.js';
import { until } from '../support/until.js';
import { marketOf, openEvent, Traders } from './server-support.js';

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
/** By the clock of the exchange, which may be some milliseconds off that of `Date`. */
const nowSeconds = () => systemClock.nowMs() / 1000;

async function oneEvent() {
  const server = await startTestExchange({ events: 0 });
  const event = openEvent(server.core, 'chances', [0.5, 0.25]);
  const [market, second] = [marketOf(event), marketOf(event, 1)];
  const socket = await server.connect('/ws');
  const o = [market.marketId, second.marketId];
  return { server, event, e: event.eventId, o, market, second, socket, traders: new Traders(server.core) };
}

/** Waits for the first tenth of a second, so that the following steps are in one second. */
const startOfSecond = () => until(() => nowSeconds() % 1 < 0.1);

describe('the chance stream', () => {
  it('answers SUBSCRIBE with the last known points as a map, then success [5.5/public 6.2/subscribe]', async () => {
    const { market, second, socket, traders, e, o } = await oneEvent();
    traders.trade(market, 40);
    const point = { t: expect.any(Number), p: 0.4 };
    socket.send({ t: 'SUBSCRIBE', e, o });
    expect(await socket.next()).toEqual({
      t: 'probability',
      e,
      o,
      d: { [market.marketId]: point, [second.marketId]: { t: Math.floor(second.openedAt / 1e6), p: 0.25 } },
    });
    const success = await socket.next();
    expect(success).toEqual({ t: 'success', e, o, d: { message: expect.stringMatching(/subscribed/) } });
  });

  it('sends every change of a chance as one point, in order, in whole seconds [2/probability-point 6.2/live]', async () => {
    const { server, market, socket, traders, e, o } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e, o });
    await socket.next('success');
    await startOfSecond();
    for (const cents of [41, 42, 42, 43]) traders.trade(market, cents);
    const { t: second } = server.core.lastChanceAtOrBefore(market.marketId, 1e12) ?? { t: 0 };
    for (const p of [0.41, 0.42, 0.43]) {
      expect(await socket.next()).toEqual({ t: 'probability', e, o: [market.marketId], d: { t: second, p } });
    }
  });

  it('sends nothing for changes of bid and ask only', async () => {
    const { market, second, socket, traders, e, o } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e, o });
    await socket.next('success');
    traders.bid(market, 10);
    traders.ask(market, 90);
    traders.trade(second, 30);
    expect(await socket.next()).toMatchObject({ t: 'probability', o: [second.marketId] });
  });

  it('sends UPDATE_HISTORY when a second with a change is over: its last value, at its end, once per outcome [6.2/update-history]', async () => {
    const { market, second, socket, traders, e, o } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e, o });
    await socket.next('success');
    await startOfSecond();
    for (const cents of [41, 42]) traders.trade(market, cents);
    traders.trade(second, 33);
    const live = [await socket.next(), await socket.next(), await socket.next()];
    const sent = live[0].d.t;
    expect(live.map(({ t, d }) => [t, d.t])).toEqual(Array(3).fill(['probability', sent]));
    expect(await socket.next()).toEqual({ t: 'UPDATE_HISTORY', e, o: [market.marketId], d: { t: sent + 1, p: 0.42 } });
    expect(nowSeconds()).toBeGreaterThanOrEqual(sent + 1);
    expect(await socket.next()).toEqual({ t: 'UPDATE_HISTORY', e, o: [second.marketId], d: { t: sent + 1, p: 0.33 } });
    traders.trade(market, 50);
    expect((await socket.next()).t).toBe('probability');
  });

  it('sends UPDATE_HISTORY points that equal the history of period 1s [6.2/update-history]', async () => {
    const { server, market, socket, traders, e, o } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e, o });
    await socket.next('success');
    traders.trade(market, 41);
    const { d } = await socket.next('UPDATE_HISTORY');
    const query = new URLSearchParams({ period: '1s', from: iso(d.t - 1), to: iso(d.t) });
    const { body } = await server.get(`/api/events/${e}/outcomes/${market.marketId}/history?${query}`);
    expect(body.at(-1)).toEqual(d);
  });

  it('stops after UNSUBSCRIBE, for the named outcomes only, and confirms it [6.2/unsubscribe]', async () => {
    const { market, second, socket, traders, e, o } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e, o });
    await socket.next('success');
    const confirmed = await socket.ask({ t: 'UNSUBSCRIBE', o: [market.marketId] });
    expect(confirmed).toEqual({
      t: 'success',
      o: [market.marketId],
      d: { message: expect.stringMatching(/unsubscribed/) },
    });
    traders.trade(market, 41);
    traders.trade(second, 42);
    expect((await socket.next()).o).toEqual([second.marketId]);
  });

  it('answers HISTORY with a map from outcome to points, the same as REST [6.2/history 6.2/rule-4]', async () => {
    const { server, market, socket, traders, e, o } = await oneEvent();
    for (const cents of [41, 45]) traders.trade(market, cents);
    const from = iso(Math.floor(market.openedAt / 1e6) - 10);
    const to = iso(Math.floor(nowSeconds()) + 3600);
    for (const p of ['1s', '5s', '5M', '10M', '30M', '1H', '3H', '4H', '6H', '1d', '7d', '1m', '77']) {
      const answer = await socket.ask({ t: 'HISTORY', e, o, d: { p, f: from, t: to } });
      expect(answer).toMatchObject({ t: 'HISTORY_RESPONSE', e, o });
      expect(Object.keys(answer.d)).toEqual(o);
      for (const id of o) {
        const query = new URLSearchParams({ period: p, from, to });
        const rest = await server.get(`/api/events/${e}/outcomes/${id}/history?${query}`);
        expect([p, answer.d[id]]).toEqual([p, rest.body]);
      }
    }
  });

  it('answers HISTORY without a period with raw points: one per second with a change, its last value [6.2/history]', async () => {
    const { market, socket, traders, e } = await oneEvent();
    const wholeSecond = () => Math.floor(nowSeconds());
    await startOfSecond();
    const first = wholeSecond();
    for (const cents of [41, 42, 43]) traders.trade(market, cents);
    await until(() => wholeSecond() > first);
    await startOfSecond();
    const second = wholeSecond();
    for (const cents of [44, 45]) traders.trade(market, cents);
    const opened = Math.floor(market.openedAt / 1e6);
    const ask = async (d: object) =>
      (await socket.ask({ t: 'HISTORY', e, o: [market.marketId], d })).d[market.marketId] as { t: number; p: number }[];
    const points = await ask({ f: iso(opened - 5), t: iso(nowSeconds() + 1) });
    const [last, before] = [points.at(-1), points.at(-2)];
    expect([before, last]).toEqual([
      { t: first, p: 0.43 },
      { t: second, p: 0.45 },
    ]);
    expect(await ask({ p: null, f: iso(opened - 5), t: iso(nowSeconds() + 1) })).toEqual(points);
    expect(await ask({ f: iso(before?.t ?? 0), t: iso(last?.t ?? 0) })).toEqual([before, last]);
    expect(await ask({ f: iso(opened + 9000), t: iso(opened + 9001) })).toEqual([
      { t: opened + 9000, p: 0.45 },
      { t: opened + 9001, p: 0.45 },
    ]);
    expect(await ask({ f: iso(opened - 9), t: iso(opened - 5) })).toEqual([]);
  });

  it('answers invalid messages with a text in r, and stays open [7.3/chance]', async () => {
    const { socket, e, o, market } = await oneEvent();
    const other = [market.marketId, 'stranger'];
    const times = { f: '2024-01-01T00:00:00Z', t: '2024-01-02T00:00:00Z' };
    const bad = [
      'not JSON',
      '{}',
      '[]',
      '{"t":"HELLO"}',
      { t: 'SUBSCRIBE', e },
      { t: 'SUBSCRIBE', o },
      { t: 'SUBSCRIBE', e, o: 'text' },
      { t: 'SUBSCRIBE', e, o: [] },
      { t: 'SUBSCRIBE', e, o: [1] },
      { t: 'SUBSCRIBE', e: 'nothing', o },
      { t: 'SUBSCRIBE', e, o: other },
      { t: 'UNSUBSCRIBE' },
      { t: 'UNSUBSCRIBE', o: {} },
      { t: 'HISTORY', e, o },
      { t: 'HISTORY', e, o, d: {} },
      { t: 'HISTORY', e, o, d: { f: times.f } },
      { t: 'HISTORY', e, o, d: { ...times, p: '5m' } },
      { t: 'HISTORY', e, o, d: { ...times, p: 60 } },
      { t: 'HISTORY', e, o, d: { ...times, f: 'soon' } },
      { t: 'HISTORY', e, o, d: { f: times.t, t: times.f } },
      { t: 'HISTORY', e, o: other, d: times },
      { t: 'HISTORY', e: 'nothing', o, d: times },
      { t: 'HISTORY', o, d: times },
    ];
    for (const message of bad) {
      const answer = await socket.ask(message);
      expect([message, answer.t, typeof answer.r]).toEqual([message, 'error', 'string']);
      expect(answer.r).not.toBe('');
    }
    socket.ws.send(Buffer.from('{}'), { binary: true });
    expect((await socket.next()).r).toContain('binary');
    expect((await socket.ask({ t: 'SUBSCRIBE', e, o })).t).toBe('probability');
  });

  it('subscribes to none of the outcomes when one of them is unknown', async () => {
    const { market, second, socket, traders, e } = await oneEvent();
    await socket.ask({ t: 'SUBSCRIBE', e, o: [market.marketId, 'stranger'] });
    socket.send({ t: 'SUBSCRIBE', e, o: [second.marketId] });
    await socket.next('success');
    traders.trade(market, 40);
    traders.trade(second, 41);
    expect((await socket.next()).o).toEqual([second.marketId]);
  });

  it('sends the last chance of a market that resolves before its event leaves the search', async () => {
    const { server, market, second, socket, e, o } = await oneEvent();
    socket.send({ t: 'SUBSCRIBE', e, o });
    await socket.next('success');
    server.core.resolveMarket(e, market.marketId, 'YES');
    server.core.resolveMarket(e, second.marketId, 'NO');
    const last = [await socket.next('probability'), await socket.next('probability')];
    expect(last.map(({ o: [id], d }) => [id, d.p])).toEqual([
      [market.marketId, 1],
      [second.marketId, 0],
    ]);
    expect((await server.post('/api/events/search')).body.totalElements).toBe(0);
    expect((await socket.ask({ t: 'SUBSCRIBE', e, o })).d[market.marketId].p).toBe(1);
  });
});
