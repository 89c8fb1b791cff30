import { describe, expect } from 'vitest';
import {
  type ChanceMessage,
  ChanceStream,
  type DisconnectedEvent,
  type Event,
  ExchangeClient,
  type OrderBookMessage,
  OrderBookStream,
  type RawResponse,
} from '../../client/index.js';
import { openEvents } from '../exchange/server-support.js';
import { atEnd, concurrentIt as it } from '../support/at-end.js';
import { startTestExchange, type TestExchange, type TestExchangeOptions } from '../support/exchange.js';
import { recorder } from './support.js';

async function exchange(options: TestExchangeOptions = {}) {
  const running = await startTestExchange({ events: 0, ...options });
  openEvents(running.core, 12);
  const addresses = { base: running.url };
  const client = new ExchangeClient({ addresses, requestsPerSecond: 500, retryBaseMs: 5 });
  atEnd(() => client.close());
  return { running, addresses, client };
}

async function allEvents(client: ExchangeClient, pageSize: number) {
  const walk = client.walkEvents({}, { pageSize });
  const events: Event[] = [];
  const extra = new Set<string>();
  for await (const page of walk) {
    events.push(...page.items);
    for (const name of page.extraFields) extra.add(name);
  }
  return { events, extra, report: walk.report };
}

async function arm(running: TestExchange, fault: Record<string, unknown>): Promise<void> {
  expect((await running.control('POST', '/faults', fault)).status).toBe(200);
}

function withMarkets(events: readonly Event[], count: number): Event {
  return first(events.filter((event) => event.markets.length === count));
}

const first = <T>(list: readonly T[]): T => {
  const [item] = list;
  if (item === undefined) throw new Error('the list is empty');
  return item;
};

/** What an event is, its markets and their assets. */
const identity = ({
  eventId,
  title,
  markets,
}: Pick<Event, 'eventId' | 'title'> & { markets: readonly MarketIds[] }) => [
  eventId,
  title,
  markets.map((m) => [m.marketId, m.yesAssetId, m.noAssetId]),
];
type MarketIds = Pick<Event['markets'][number], 'marketId' | 'yesAssetId' | 'noAssetId'>;

describe.concurrent('the client against the simulated exchange', () => {
  it.each([
    ['event-shape=outcomes', { yesPrice: false }],
    ['event-shape=runners', { yesPrice: true }],
    ['event-shape=both', { yesPrice: true }],
    ['event-shape=both,extra-fields,max-page-size=3', { yesPrice: true }],
    ['event-shape=both,numbers-as-strings', { yesPrice: true }],
  ] as const)('finds every event once, with its markets and assets (%s)', async ([quirks, { yesPrice }]) => {
    const { client, running } = await exchange({ quirks });
    const { events, extra, report } = await allEvents(client, 5);
    expect(report).toMatchObject({
      expectedItems: 12,
      receivedItems: 12,
      distinctItems: 12,
      invalid: 0,
      complete: true,
    });
    const opened = running.core.events().map(({ eventId, title, markets }) => ({ eventId, title, markets }));
    expect(events.map(identity)).toEqual(opened.map(identity));
    expect(events.every((event) => event.markets.length > 0 && event.volume24h !== null)).toBe(true);
    expect(events.flatMap((event) => event.markets).every((m) => (m.yesPrice !== null) === yesPrice)).toBe(true);
    expect(extra.has('volume24h')).toBe(true);
  });

  it('reads all categories, tags and coins [1/base-url 4.3/coins]', async () => {
    const { client } = await exchange();
    const [categories, tags, coins] = await Promise.all([
      client.categories(),
      client.popularTags({ limit: 3 }),
      client.coins(),
    ]);
    for (const list of [categories, tags, coins]) expect(list).toMatchObject({ invalidEntries: [], extraFields: [] });
    expect(categories.items.length).toBeGreaterThan(1);
    expect(tags.items.length).toBe(3);
    expect(coins.items.some((coin) => coin.ticker === 'USDC' && coin.collateral === true)).toBe(true);
  });

  it('gets the same history from REST and from the stream, at every kind of period [6.2/rule-3 6.2/rule-4]', async () => {
    const { client, addresses, running } = await exchange();
    const event = withMarkets((await allEvents(client, 100)).events, 3);
    const marketIds = event.markets.map((market) => market.marketId);
    running.core.resolveMarket(event.eventId, marketIds[1] ?? '', 'YES');
    const stream = new ChanceStream({ addresses });
    atEnd(() => stream.close());
    stream.start();
    const to = Math.floor(Date.now() / 1000) + 1;
    for (const period of ['1s', '5s', '90', '1H']) {
      const range = { period, from: to - 600, to };
      const live = await stream.history({ eventId: event.eventId, marketIds, ...range });
      expect(live.series.map((series) => series.marketId)).toEqual(marketIds);
      if (period === '1s') expect(live.series[1]?.points.at(-1)?.probability).toBe(1);
      for (const { marketId, points } of live.series) {
        const rest = await client.chanceHistory({ eventId: event.eventId, marketId, ...range });
        expect(rest.invalidEntries).toEqual([]);
        expect(rest.items).toEqual(points);
      }
    }
    await expect(stream.history({ eventId: event.eventId, marketIds: ['nobody'], from: to - 1, to })).rejects.toThrow(
      /refused it \(the event has no outcome nobody\)/,
    );
    await expect(
      client.chanceHistory({ eventId: 'nobody', marketId: 'x', period: '1s', from: 0, to: 1 }),
    ).rejects.toMatchObject({
      status: 404,
      error: { status: 404 },
    });
  });

  it('retries after 429, 500, resets and truncated bodies, and passes on every response [7.2/500]', async () => {
    const { client, running } = await exchange();
    for (const kind of ['http-429', 'http-500', 'http-reset', 'truncated-body']) {
      await arm(running, { kind, stream: 'rest', count: 1 });
    }
    const shown: RawResponse[] = [];
    const answer = await client.coins({ onResponse: (response) => shown.push(response) });
    expect(answer.items.length).toBeGreaterThan(0);
    expect(answer.response.request.attempt).toBe(4);
    expect(
      shown
        .map((response) => response.status)
        .filter((status) => status !== 200)
        .sort(),
    ).toEqual([429, 500]);
    const cut = shown.filter((response) => response.truncated !== undefined);
    expect(cut.map((response) => [response.status, response.truncated])).toEqual([[200, 'broken-off']]);
    expect(answer.response.bytes.toString().slice(0, 20)).toBe(cut[0]?.bytes.toString().slice(0, 20));
  });

  it('stays within a rate limit after it was reached [8/open]', async () => {
    const { addresses } = await exchange({ quirks: 'rate-limit=5' });
    const client = new ExchangeClient({
      addresses,
      requestsPerSecond: 100,
      concurrency: 2,
      retryBaseMs: 5,
      attempts: 20,
    });
    atEnd(() => client.close());
    const statuses: number[] = [];
    const onResponse = (response: RawResponse) => void statuses.push(response.status);
    await Promise.all(Array.from({ length: 12 }, () => client.coins({ onResponse })));
    expect(statuses.filter((status) => status === 200).length).toBe(12);
    expect(statuses).toContain(429);
  });

  it('follows prices through a dropped connection, a malformed frame and a snapshot on request', async () => {
    const { client, addresses, running } = await exchange();
    const event = first((await allEvents(client, 100)).events);
    const messages = recorder<OrderBookMessage>();
    const disconnected = recorder<DisconnectedEvent>();
    const stream = new OrderBookStream({
      addresses,
      reconnectBaseMs: 1,
      onMessage: (message) => {
        if (message.type !== 'ping') messages(message);
      },
      onDisconnected: disconnected,
    });
    atEnd(() => stream.close());
    stream.subscribe(event.eventId);
    stream.start();
    expect(await messages.next()).toEqual({ type: 'subscribed', eventId: event.eventId });
    const snapshot = await messages.next();
    expect(snapshot).toMatchObject({ type: 'prices', snapshot: true, eventId: event.eventId, invalidEntries: [] });
    const markets = snapshot.type === 'prices' ? snapshot.prices.map((price) => price.marketId) : [];
    expect(markets).toEqual(event.markets.map((market) => market.marketId));
    stream.requestData(event.eventId);
    expect(await messages.next()).toEqual(snapshot);
    await arm(running, { kind: 'malformed-frame', stream: 'order-book', count: 1 });
    stream.requestData(event.eventId);
    const afterMalformed = [await messages.next()];
    stream.requestData(event.eventId);
    while (afterMalformed.at(-1)?.type !== 'prices') afterMalformed.push(await messages.next());
    expect(afterMalformed.some((message) => message.type === 'invalid')).toBe(true);
    await arm(running, { kind: 'drop-connection', stream: 'order-book', count: 1 });
    stream.requestData(event.eventId);
    await disconnected.next();
    const rest: OrderBookMessage[] = [];
    while (rest.at(-1)?.type !== 'subscribed') rest.push(await messages.next());
    expect(await messages.next()).toEqual(snapshot);
    stream.unsubscribe(event.eventId);
    expect(await messages.next()).toEqual({ type: 'unsubscribed', eventId: event.eventId });
    stream.requestData('nobody');
    expect(await messages.next()).toEqual({ type: 'error', reason: 'unknown event nobody', eventId: 'nobody' });
  });

  it('decodes every message of a busy market, on both streams', async () => {
    const { client, addresses, running } = await exchange({ load: 500 });
    const { events } = await allEvents(client, 100);
    const resolved = withMarkets(events, 3);
    const prices = recorder<OrderBookMessage>();
    const chances = recorder<ChanceMessage>();
    const orderBook = new OrderBookStream({ addresses, onMessage: prices });
    const chance = new ChanceStream({ addresses, onMessage: chances });
    atEnd(() => orderBook.close());
    atEnd(() => chance.close());
    for (const { eventId, markets } of events) {
      orderBook.subscribe(eventId);
      chance.subscribe(
        eventId,
        markets.map((market) => market.marketId),
      );
    }
    orderBook.start();
    chance.start();
    const types = new Set<string>();
    for (let deltas = 0; deltas < 200; ) {
      const message = await prices.next();
      types.add(message.type);
      if (message.type !== 'prices') continue;
      expect(message.invalidEntries).toEqual([]);
      if (!message.snapshot) deltas += 1;
    }
    types.delete('ping');
    expect([...types].sort()).toEqual(['prices', 'subscribed']);
    const seen = new Map<string, ChanceMessage>();
    const readUntil = async (last: ChanceMessage['type']) => {
      let message: ChanceMessage;
      do {
        message = await chances.next();
        seen.set(message.type === 'probability' && message.initial ? 'initial' : message.type, message);
      } while (message.type !== last);
    };
    // The two streams are independent: the market must be observed on both.
    for (const _ of events) await readUntil('success');
    const { marketId } = first(resolved.markets);
    running.core.resolveMarket(resolved.eventId, marketId, 'YES');
    await readUntil('aggregated');
    expect([...seen.keys()]).toEqual(['initial', 'success', 'probability', 'aggregated']);
    for (const type of ['probability', 'aggregated']) {
      expect(seen.get(type)).toMatchObject({ invalidEntries: [], points: [{ marketId, probability: 1 }] });
    }
  });
});
