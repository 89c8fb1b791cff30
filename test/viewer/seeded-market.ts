import { Random } from '../../core/index.js';
import { polled, trade } from '../sql/account-data.js';
import { plus, randomTrade } from '../sql/random-trade.js';
import {
  collectorEvent,
  eventSeen,
  searchPoll,
  tick,
  time,
  type Values,
  type WarehouseData,
} from '../sql/warehouse-data.js';

/**
 * The market of the images in docs/images/: six hours of 5 January 2026, the same at every run. Times are seconds after noon UTC. From 16:48 to 16:53
 * the order book connection is lost, from 17:20 to 17:22 that of chances, whose history is fetched later.
 */
const HOUR = 3600;
const MINUTE = 60;
const OPENED = 0;
const NOW = 6 * HOUR;
const BOOK_GAP = { from: NOW - 17 * MINUTE, to: NOW - 12 * MINUTE };
const CHANCE_GAP = { from: NOW - 40 * MINUTE, to: NOW - 38 * MINUTE };
const AUDIT_SECONDS = 300;
const ACCOUNT = 'fund';
const COIN = 'usdc';
/** Markets of earlier days, of which it is known how they ended. */
const PAST_EVENTS = 300;
/** Few, so that a bin of one cent has enough markets. */
const PAST_CENTS = [8, 22, 40, 58, 77, 93];
const DAY = 24 * HOUR;

/** Unix milliseconds of the time at which the images are made. */
export const SEEDED_NOW_MS = Date.UTC(2026, 0, 5, 18);

interface SeededEvent {
  readonly id: string;
  readonly title: string;
  readonly category: string;
  readonly closes: number;
  readonly volume: number;
  /** Names, and their probabilities at the start, per cent. */
  readonly outcomes: readonly (readonly [name: string, start: number, drift: number])[];
}

const EVENTS: readonly SeededEvent[] = [
  {
    ...{
      id: 'mayor',
      title: 'Who becomes mayor of Port Ellery?',
      category: 'politics',
      closes: 30 * HOUR,
      volume: 48_210,
    },
    outcomes: [
      ['Avery', 41, 22],
      ['Brook', 36, -14],
      ['Casey', 17, -8],
      ['Devon', 7, 1],
    ],
  },
  {
    ...{
      id: 'lantern',
      title: 'Which film wins the Golden Lantern?',
      category: 'film',
      closes: 53 * HOUR,
      volume: 31_745,
    },
    outcomes: [
      ['Paper Moons', 52, 12],
      ['The Last Ferry', 33, -9],
      ['Salt', 14, -4],
    ],
  },
  {
    ...{ id: 'rain', title: 'Will it rain in Quintara today?', category: 'weather', closes: 11 * HOUR, volume: 12_980 },
    outcomes: [['Yes', 62, -31]],
  },
  {
    ...{
      id: 'harbour',
      title: 'Does the harbour bridge open before March?',
      category: 'city',
      closes: 55 * DAY,
      volume: 9_412,
    },
    outcomes: [['Yes', 28, 9]],
  },
  {
    ...{
      id: 'derby',
      title: 'Northport against Velmere: how does it end?',
      category: 'football',
      closes: 8 * HOUR,
      volume: 27_300,
    },
    outcomes: [
      ['Northport', 44, 6],
      ['Draw', 29, -5],
      ['Velmere', 27, -2],
    ],
  },
  {
    ...{
      id: 'rate',
      title: 'Does the bank of Ostrana cut its rate in January?',
      category: 'economy',
      closes: 24 * DAY,
      volume: 22_118,
    },
    outcomes: [['Yes', 71, 8]],
  },
];

interface SeededMarket {
  readonly id: string;
  readonly event: string;
  readonly name: string;
  readonly start: number;
  readonly drift: number;
}

const MARKETS: readonly SeededMarket[] = EVENTS.flatMap(({ id: event, outcomes }) =>
  outcomes.map(([name, start, drift]) => ({
    id: `${event}-${name.toLowerCase().replaceAll(' ', '-')}`,
    event,
    name,
    start,
    drift,
  })),
);
const marketsOf = (event: string) => MARKETS.filter((market) => market.event === event).map(({ id }) => id);

const cents = (value: number) => Math.min(97, Math.max(3, Math.round(value))) / 100;
/** With the decimals of a price; Number arithmetic would show 0.30000000000000004. */
const within = (at: number, { from, to }: { from: number; to: number }) => at > from && at < to;

export async function recordSeededMarket(data: WarehouseData): Promise<void> {
  const random = new Random(14);
  await recordPast(data, random);
  const prices = new Map<string, number>();
  const raw: Record<string, unknown>[] = [];
  for (const market of MARKETS) prices.set(market.id, await recordMarket(data, market, random, raw));
  await data.insert('event_observations', EVENTS.flatMap(eventRows));
  await data.insert(
    'market_observations',
    MARKETS.flatMap((market) => marketRows(market, prices.get(market.id) ?? 0.5)),
  );
  await data.insert('collector_events', [...collectorEvents(), ...heartbeats(raw)]);
  await data.insert('audits', audits(random));
  await data.insert('raw_records', raw);
  await data.insert('polls', [
    ...Array.from({ length: 6 * 12 + 1 }, (_, i) => searchPoll(time(OPENED - 10 + i * 300 - (i === 72 ? 5 : 0)))),
  ]);
  await recordAccount(data);
}

function eventRows({ id, title, category, closes, volume }: SeededEvent): Values[] {
  const fields = {
    ...{ title, category, slug: id, tags: [category], markets: marketsOf(id), created_at: time(OPENED - HOUR) },
    ...{ closes_at: time(closes), volume_24h: volume, total_volume: 3.4 * volume },
  };
  return [OPENED - 5, NOW - 4].map((at) => eventSeen(id, time(at), fields));
}

function marketRows({ id, event, name, start }: SeededMarket, price: number): Values[] {
  const fields = { market: id, event, name, poll_id: 'p', yes_asset: `${id} yes`, no_asset: `${id} no` };
  return [
    { ...fields, received_at: time(OPENED - 5), yes_price: start / 100 },
    { ...fields, received_at: time(NOW - 4), yes_price: price },
  ];
}

function collectorEvents(): Values[] {
  const subscribed = (stream: string, connection: string, at: number, first: number) =>
    EVENTS.map(({ id: event }, n) =>
      collectorEvent('s', first + n, time(at), 'subscribed', {
        ...{ stream, connection_id: connection, event, markets: marketsOf(event) },
      }),
    );
  const lost = (stream: string, connection: string, at: number, sequence: number) =>
    collectorEvent('s', sequence, time(at), 'disconnected', { stream, connection_id: connection, cause: 'reset' });
  return [
    collectorEvent('s', 1, time(OPENED - 2), 'session-started', { collector: 'office', version: '0.1.0' }),
    ...subscribed('order-book', 'book 1', OPENED, 10),
    ...subscribed('chance', 'chance 1', OPENED, 30),
    collectorEvent('s', 45, time(OPENED), 'subscribed', {
      ...{ stream: 'balance', connection_id: 'balance 1', event: ACCOUNT, markets: [COIN] },
    }),
    lost('chance', 'chance 1', CHANCE_GAP.from, 50),
    ...subscribed('chance', 'chance 2', CHANCE_GAP.to, 51),
    ...MARKETS.map(({ id, event }, n) =>
      collectorEvent('s', 60 + n, time(CHANCE_GAP.to + 30), 'backfilled', {
        ...{ stream: 'chance', event, market: id, range_from: time(OPENED), range_to: time(CHANCE_GAP.to + 10) },
      }),
    ),
    lost('order-book', 'book 1', BOOK_GAP.from, 100),
    ...subscribed('order-book', 'book 2', BOOK_GAP.to, 101),
    ...(
      [
        ['order-book', 'book 2', BOOK_GAP.to],
        ['chance', 'chance 2', CHANCE_GAP.to],
        ['balance', 'balance 1', OPENED],
      ] as const
    ).map(([stream, connection_id, at], n) =>
      collectorEvent('s', 150 + n, time(at - 0.3), 'connected', { stream, connection_id }),
    ),
  ];
}

/** Numbers the raw records of each topic in the order of their times; the heartbeats of the last minutes state these numbers. */
function heartbeats(raw: Record<string, unknown>[]): Values[] {
  const numbers: Record<string, number> = {
    ...{ 'chancery.account': 310, 'chancery.collector-events': 199, 'chancery.reference': 1204 },
  };
  const byTime = raw.toSorted((a, b) => String(a['received_at']).localeCompare(String(b['received_at'])));
  const beats = [NOW - 4 * MINUTE, NOW - 0.6].map((at, n) => {
    while (byTime[0] && String(byTime[0]['received_at']) <= time(at)) {
      const record = byTime.shift() as Record<string, unknown>;
      const topic = String(record['_topic']);
      numbers[topic] = (numbers[topic] ?? 0) + 1;
      record['sequence'] = numbers[topic];
    }
    const ends = { 'book 2': at - 0.8, 'chance 2': at - 1.5, 'balance 1': at - 5.2 };
    const last_frames = Object.fromEntries(
      Object.entries(ends).map(([id, end]) => [id, Date.parse(`${time(end)}Z`) * 1000]),
    );
    return collectorEvent('s', 200 + n, time(at), 'heartbeat', { acknowledged: { ...numbers }, last_frames });
  });
  return beats;
}

/** Changes of price and chance, trades of all users, and the raw records of the last hour. @returns the last price */
async function recordMarket(
  data: WarehouseData,
  market: SeededMarket,
  random: Random,
  raw: Record<string, unknown>[],
): Promise<number> {
  const { id, event, start, drift } = market;
  const ticks: Values[] = [];
  const points: Values[] = [];
  const trades: Values[] = [];
  const rawRow = (topic: string, kind: string, at: number) => {
    const delay = 0.012 + 0.05 * random.next() ** 3;
    raw.push({
      ...{ _topic: `chancery.${topic}`, _partition: Math.floor(4 * random.next()), _offset: raw.length, kind },
      ...{
        received_at: time(at),
        written_at: time(at + delay),
        session_id: 's',
        sequence: raw.length,
        body_bytes: 180,
      },
    });
  };
  let noise = 0;
  let price = cents(start);
  for (let at = OPENED + 2; at < NOW - 1; at += 9 * (0.3 + random.next() * 1.4)) {
    noise = 0.985 * noise + 1.3 * (random.next() - 0.5);
    price = cents(start + (drift * at) / NOW + noise * 2);
    const half = random.next() < 0.25 ? 0.02 : 0.01;
    if (!within(at, BOOK_GAP)) {
      ticks.push(tick(id, time(at), price, { event, bid: plus(price, -half), ask: plus(price, half) }));
      if (at > NOW - HOUR) rawRow('order-book', 'order-book.frame', at);
    }
    if (random.next() < 0.5) {
      const second = Math.floor(at);
      const chance = { market: id, event, chance: price, occurred_at: time(second) };
      if (!within(at, CHANCE_GAP)) points.push({ ...chance, source: 'change', received_at: time(at) });
      if (at > NOW - HOUR) rawRow('chance', 'chance.frame', at);
    }
    const traded = { market: market.id, at: at + 0.4, readAt: at + 2.4, price, half, users: 24, maxShares: 140 };
    if (random.next() < 0.22) trades.push(randomTrade(traded, random));
  }
  await data.insert('price_ticks', ticks);
  await data.insert('chance_points', points);
  await data.insert('activity_records', trades);
  return price;
}

/** Every event is audited every five minutes; now and then the last change of a market was not received. */
function audits(random: Random): Values[] {
  const rows: Values[] = [];
  for (let at = OPENED + AUDIT_SECONDS; at < NOW; at += AUDIT_SECONDS) {
    for (const { id } of EVENTS) {
      const compared = marketsOf(id).length;
      const missed = random.next() < 0.01 ? 1 : 0;
      rows.push({
        ...{ audited_at: time(at), last_equal_at: time(at - AUDIT_SECONDS), session_id: 's', stream: 'order-book' },
        ...{ connection_id: 'book 1', event: id, reason: 'interval', changes: 6 * compared },
        ...{ compared, changed: compared, missed, mismatches: missed },
      });
    }
  }
  return rows;
}

/** What a fund traded, and the lists that were read of it. */
async function recordAccount(data: WarehouseData): Promise<void> {
  const own = (
    [
      [-5.2, 'mayor-avery', 'yes', 'BUY', 400, 0.42],
      [-4.6, 'mayor-brook', 'no', 'BUY', 250, 0.66],
      [-4.1, 'lantern-paper-moons', 'yes', 'BUY', 300, 0.55],
      [-3.4, 'rain-yes', 'no', 'BUY', 350, 0.44],
      [-2.2, 'derby-northport', 'yes', 'BUY', 220, 0.47],
      [-1.4, 'mayor-avery', 'yes', 'SELL', 150, 0.58],
      [-0.8, 'rate-yes', 'yes', 'BUY', 180, 0.78],
      [-0.5, 'rain-yes', 'no', 'SELL', 120, 0.66],
      [-0.3, 'lantern-salt', 'no', 'BUY', 90, 0.89],
      [-0.1, 'derby-northport', 'yes', 'SELL', 60, 0.5],
    ] as const
  ).map(([hours, market, outcome, side, quantity, price], n) =>
    trade(ACCOUNT, `${ACCOUNT} ${n}`, {
      ...{ side, market, event: market.split('-')[0], asset: `${market} ${outcome}`, quantity: String(quantity) },
      ...{ price: String(price), executed_at: time(NOW + hours * HOUR), received_at: time(NOW - 3), page: 0 },
      ...{ _index: 20 - n, fee: (quantity * price * 0.002).toFixed(6) },
    }),
  );
  await data.insert('trade_records', own);
  let balance = 2000;
  const balances = own.map((row, n) => {
    const { side, quantity, price, fee, executed_at } = row as Record<string, string>;
    balance += (side === 'BUY' ? -1 : 1) * Number(quantity) * Number(price) - Number(fee);
    const amounts = { balance: balance.toFixed(6), free: (balance - 40 * (n % 3)).toFixed(6) };
    return { account: ACCOUNT, asset: COIN, received_at: executed_at, source: n === 0 ? 'list' : 'update', ...amounts };
  });
  const coin = { coin: COIN, name: 'USD Coin', ticker: 'USDC', usd_rate: 1, status: 'ACTIVE', poll_id: 'p' };
  await data.insert('coin_observations', [{ ...coin, received_at: time(OPENED) }]);
  await data.insert('balance_updates', balances);
  const walks = ['trades', 'transactions', 'activity'].map((operation) =>
    polled(operation, operation === 'activity' ? 'activity' : ACCOUNT, time(NOW - 2)),
  );
  await data.insert(
    'polls',
    walks.map(({ receipt }) => receipt),
  );
  await data.insert(
    'account_pages',
    walks.map(({ page }) => ({ ...page, items: 0, account: page['operation'] === 'activity' ? '' : ACCOUNT })),
  );
}

/** Markets of the thirty days before, each with a price during its last days and what it was resolved as. */
async function recordPast(data: WarehouseData, random: Random): Promise<void> {
  const events: Values[] = [];
  const markets: Values[] = [];
  const ticks: Values[] = [];
  const subscribed: Values[] = [];
  const polls: Values[] = [searchPoll(time(-32 * DAY))];
  for (let n = 0; n < PAST_EVENTS; n++) {
    const [event, market] = [`past-${n}`, `past-${n}-yes`];
    const closes = -DAY * (1 + 28 * random.next());
    const opens = closes - 2 * DAY;
    const price = (PAST_CENTS[n % PAST_CENTS.length] ?? 50) / 100;
    const result = random.next() < price ? 1 : 0;
    const fields = { ...{ title: `Question ${n + 1}`, category: 'past', markets: [market] }, closes_at: time(closes) };
    for (const at of [opens, closes]) events.push(eventSeen(event, time(at), { ...fields, created_at: time(opens) }));
    const named = { market, event, name: 'Yes', poll_id: 'p', yes_asset: `${market} yes`, no_asset: `${market} no` };
    markets.push({ ...named, received_at: time(opens) });
    for (let at = opens + 60; at < closes; at += HOUR) {
      ticks.push(tick(market, time(at), price, { event, bid: plus(price, -0.01), ask: plus(price, 0.01) }));
    }
    ticks.push(tick(market, time(closes + 300), result, { event, bid: null, ask: null }));
    polls.push(searchPoll(time(opens)), searchPoll(time(closes + 60)));
    subscribed.push(
      ...['order-book', 'chance'].map((stream, s) =>
        collectorEvent('past', 2 * n + s + 10, time(opens + 1), 'subscribed', {
          ...{ stream, connection_id: `past ${stream}`, event, markets: [market] },
        }),
      ),
    );
  }
  const started = collectorEvent('past', 1, time(-32 * DAY), 'session-started', {
    collector: 'office',
    version: '0.1.0',
  });
  const stopped = collectorEvent('past', 9999, time(-600), 'session-stopped', { cause: 'done' });
  await data.insert('event_observations', events);
  await data.insert('market_observations', markets);
  await data.insert('price_ticks', ticks);
  await data.insert('polls', polls);
  await data.insert('collector_events', [started, ...subscribed, stopped]);
}
