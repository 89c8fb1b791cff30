import { Random } from '../../core/index.js';
import { polled, trade } from './account-data.js';
import { plus, randomTrade } from './random-trade.js';
import {
  collectorEvent,
  eventSeen,
  searchPoll,
  tick,
  time,
  type Values,
  type WarehouseData,
} from './warehouse-data.js';

/**
 * The day of docs/cookbook.md, the same at every run: three events on 5 January 2026, times in seconds after noon UTC.
 * Recording runs from 9 to 18 h. From 13:10 to 13:25 the order book connection is lost.
 */
const HOUR = 3600;
const OPENED = -3 * HOUR;
const CLOSED = 6 * HOUR;
const GAP = { from: 70 * 60, to: 85 * 60 };
const SEED = 20_260_105;

interface Market {
  readonly id: string;
  readonly event: string;
  readonly name: string;
  /** Probability at the start, per cent, and how much it moves until the end. */
  readonly start: number;
  readonly drift: number;
  /** Seconds between two changes. */
  readonly every: number;
  readonly result: 0 | 1;
}

const EVENTS = [
  { id: 'mayor', title: 'Who becomes mayor of Port Ellery?', category: 'politics', closes: 5.5 * HOUR },
  { id: 'rain', title: 'Will it rain in Quintara today?', category: 'weather', closes: 5 * HOUR },
  { id: 'lantern', title: 'Which film wins the Golden Lantern?', category: 'film', closes: 5.75 * HOUR },
] as const;

const MARKETS: readonly Market[] = [
  { id: 'avery', event: 'mayor', name: 'Avery', start: 41, drift: 40, every: 40, result: 1 },
  { id: 'brook', event: 'mayor', name: 'Brook', start: 38, drift: -26, every: 45, result: 0 },
  { id: 'casey', event: 'mayor', name: 'Casey', start: 20, drift: -14, every: 90, result: 0 },
  { id: 'rain-yes', event: 'rain', name: 'Yes', start: 62, drift: -45, every: 60, result: 0 },
  { id: 'paper-moons', event: 'lantern', name: 'Paper Moons', start: 55, drift: 25, every: 120, result: 1 },
  { id: 'last-ferry', event: 'lantern', name: 'The Last Ferry', start: 44, drift: -28, every: 150, result: 0 },
];

const cents = (value: number) => Math.min(97, Math.max(3, Math.round(value))) / 100;
/** With the decimals of a price; Number arithmetic would show 0.30000000000000004. */

export async function recordDay(data: WarehouseData): Promise<void> {
  const random = new Random(SEED);
  await data.insert('event_observations', EVENTS.flatMap(eventOf));
  await data.insert('market_observations', MARKETS.flatMap(marketOf));
  const listed = [OPENED - 600, ...EVENTS.map(({ closes }) => closes + 60)].map((at) => searchPoll(time(at)));
  const empty = { ...searchPoll(time(CLOSED + 60)), received_items: 0, distinct_items: 0 };
  await data.insert('polls', [...listed, empty]);
  await data.insert('collector_events', collectorEvents());
  for (const market of MARKETS) await recordMarket(data, market, random);
  await data.insert('audits', audits(random));
  await recordAccount(data);
}

function eventOf({ id, title, category, closes }: (typeof EVENTS)[number]): Values[] {
  const fields = {
    ...{ title, category, slug: id, tags: [category], markets: MARKETS.filter((m) => m.event === id).map((m) => m.id) },
    ...{ created_at: time(OPENED), closes_at: time(closes) },
  };
  return [eventSeen(id, time(OPENED + 20), fields), eventSeen(id, time(closes), fields)];
}

function marketOf({ id, event, name }: Market): Values[] {
  const fields = { market: id, event, name, poll_id: 'p', yes_asset: `${id} yes`, no_asset: `${id} no` };
  const closes = EVENTS.find((one) => one.id === event)?.closes ?? CLOSED;
  return [OPENED + 20, closes].map((at) => ({ ...fields, received_at: time(at) }));
}

function collectorEvents(): Values[] {
  const subscribed = (stream: string, connection: string, at: number, first: number) =>
    EVENTS.map(({ id }, n) =>
      collectorEvent('s', first + n, time(at), 'subscribed', {
        ...{
          stream,
          connection_id: connection,
          event: id,
          markets: MARKETS.filter((m) => m.event === id).map((m) => m.id),
        },
      }),
    );
  const range = { stream: 'chance', event: 'rain', market: 'rain-yes' };
  return [
    collectorEvent('s', 1, time(OPENED), 'session-started', { collector: 'office' }),
    ...subscribed('order-book', 'book 1', OPENED + 21, 2),
    ...subscribed('chance', 'chance 1', OPENED + 22, 12),
    collectorEvent('s', 20, time(GAP.from), 'disconnected', {
      stream: 'order-book',
      connection_id: 'book 1',
      cause: 'reset',
    }),
    ...subscribed('order-book', 'book 2', GAP.to, 21),
    collectorEvent('s', 30, time(2 * HOUR), 'disconnected', {
      stream: 'chance',
      connection_id: 'chance 1',
      cause: 'reset',
    }),
    ...subscribed('chance', 'chance 2', 2 * HOUR + 120, 31),
    collectorEvent('s', 40, time(2 * HOUR + 180), 'backfilled', {
      ...{ ...range, range_from: time(OPENED), range_to: time(2 * HOUR + 170) },
    }),
    collectorEvent('s', 41, time(CLOSED + 30), 'session-stopped', { cause: 'done' }),
  ];
}

/** Changes of price and chance, trades of all users, and the resolution. */
async function recordMarket(data: WarehouseData, market: Market, random: Random): Promise<void> {
  const { id, event, start, drift, every, result } = market;
  const ticks: Values[] = [];
  const points: Values[] = [];
  const trades: Values[] = [];
  const closes = EVENTS.find((one) => one.id === event)?.closes ?? CLOSED;
  let noise = 0;
  for (let at = OPENED + 25; at < closes; at += every * (0.5 + random.next())) {
    noise = 0.9 * noise + 3 * (random.next() - 0.5);
    const price = cents(start + (drift * (at - OPENED)) / (CLOSED - OPENED) + noise);
    const half = random.next() < 0.3 ? 0.02 : 0.01;
    const isLost = at > GAP.from && at < GAP.to;
    const quotes = { event, bid: plus(price, -half), ask: plus(price, half) };
    if (!isLost) ticks.push(tick(id, time(at), price, quotes));
    const second = Math.floor(at);
    points.push({
      market: id,
      event,
      chance: price,
      source: 'change',
      occurred_at: time(second),
      received_at: time(at),
    });
    const traded = { market: market.id, at: at + 0.4, readAt: CLOSED + 20, price, half, users: 9, maxShares: 60 };
    if (random.next() < 0.5) trades.push(randomTrade(traded, random));
  }
  const decided = closes + 300;
  ticks.push(tick(id, time(decided), result, { event, bid: null, ask: null }));
  points.push({
    market: id,
    event,
    chance: result,
    source: 'change',
    occurred_at: time(decided),
    received_at: time(decided),
  });
  await data.insert('price_ticks', ticks);
  await data.insert('chance_points', points);
  await data.insert('activity_records', trades);
}

/** Every event is audited every five minutes; now and then the last change of a market was not received. */
function audits(random: Random): Values[] {
  const rows: Values[] = [];
  for (let at = OPENED + 300; at < 5 * HOUR; at += 300) {
    for (const { id } of EVENTS) {
      const compared = MARKETS.filter((m) => m.event === id).length;
      const missed = random.next() < 0.01 ? 1 : 0;
      rows.push({
        ...{
          audited_at: time(at),
          last_equal_at: time(at - 300),
          session_id: 's',
          stream: 'order-book',
          connection_id: 'book 1',
        },
        ...{
          event: id,
          reason: 'interval',
          changes: 6 * compared,
          compared,
          changed: compared,
          missed,
          mismatches: missed,
        },
      });
    }
  }
  return rows;
}

/** A fund that buys Avery in the morning and sells some, and holds both sides of the rain. */
async function recordAccount(data: WarehouseData): Promise<void> {
  let n = 0;
  const own = (
    at: number,
    market: string,
    event: string,
    outcome: string,
    side: string,
    quantity: string,
    price: string,
  ) => {
    n += 1;
    return trade('fund', `fund ${n}`, {
      ...{
        side,
        event,
        market,
        asset: `${market} ${outcome}`,
        quantity,
        price,
        executed_at: time(at),
        page: 0,
        _index: 20 - n,
      },
      fee: (Number(quantity) * Number(price) * 0.002).toFixed(6),
    });
  };
  await data.insert('trade_records', [
    own(-2.5 * HOUR, 'avery', 'mayor', 'yes', 'BUY', '200', '0.42'),
    own(-1 * HOUR, 'avery', 'mayor', 'yes', 'BUY', '100', '0.51'),
    own(-0.5 * HOUR, 'rain-yes', 'rain', 'yes', 'BUY', '50', '0.49'),
    own(1 * HOUR, 'rain-yes', 'rain', 'no', 'BUY', '80', '0.58'),
    own(2 * HOUR, 'avery', 'mayor', 'yes', 'SELL', '150', '0.63'),
    own(3 * HOUR, 'brook', 'mayor', 'no', 'BUY', '60', '0.79'),
    own(4 * HOUR, 'rain-yes', 'rain', 'yes', 'SELL', '20', '0.27'),
  ]);
  const walks = ['trades', 'transactions', 'activity'].map((operation) =>
    polled(operation, operation === 'activity' ? 'activity' : 'fund', time(CLOSED + 25)),
  );
  await data.insert(
    'polls',
    walks.map(({ receipt }) => receipt),
  );
  await data.insert(
    'account_pages',
    walks.map(({ page }) => ({ ...page, items: 0, account: page['operation'] === 'activity' ? '' : 'fund' })),
  );
}
