import { Random } from '../../core/index.js';
import { polled, seen } from './account-data.js';
import { collectorEvent, eventSeen, tick, time, type Values, type WarehouseData } from './warehouse-data.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const HORIZONS = [
  ['1 h', HOUR],
  ['6 h', 6 * HOUR],
  ['1 d', DAY],
  ['3 d', 3 * DAY],
  ['7 d', 7 * DAY],
  ['30 d', 30 * DAY],
] as const;
const MARKETS_OF_EVENT = 4;
/** Prices of few different cents, so that bins have many markets; 0.29 × 100 is less than 29 in binary. */
const CENTS = [7, 29, 29.5, 50, 58, 93];

/** Times are seconds after `time(0)`. */
interface Trade {
  readonly at: number;
  /** In YES terms. */
  readonly price: number;
  readonly takerGetsYes: boolean;
}

interface SampledMarket {
  readonly market: string;
  readonly event: string;
  readonly openedAt: number;
  readonly plannedAt: number;
  readonly resolvedAt: number;
  readonly ticks: readonly { at: number; price: number }[];
  readonly trades: readonly Trade[];
  readonly result: number;
  readonly basis: 'payout' | 'final chance' | 'void' | 'none';
  /** When its event was observed. */
  readonly observed: readonly (readonly [number, number])[];
}

/** A row of calibration_forecasts, without its times. */
export interface Forecast {
  readonly weighting: string;
  readonly horizon: string;
  readonly event: string;
  readonly market: string;
  readonly state: string;
  readonly forecast: number | null;
  readonly weight: number;
  readonly result: number;
  readonly basis: string;
}

/** Random resolved markets, their rows in the warehouse, and what calibration_forecasts is to say about them. */
export class CalibrationSample {
  readonly #random: Random;
  readonly #markets: readonly SampledMarket[];
  /** Up to when the activity feed is complete. */
  readonly #completeTo = 44 * DAY;

  constructor(seed: number, markets: number) {
    this.#random = new Random(seed);
    this.#markets = Array.from({ length: markets / MARKETS_OF_EVENT }, (_, i) => this.#event(i)).flat();
  }

  /** The markets that were resolved yes or no. */
  results(): readonly SampledMarket[] {
    return this.#markets.filter(({ basis }) => basis === 'payout' || basis === 'final chance');
  }

  async insert(data: WarehouseData): Promise<void> {
    await data.insert('event_observations', this.#perEvent().map(observationOf));
    await data.insert(
      'market_observations',
      this.#markets.map(({ market, event }) => ({
        ...{ market, event, name: market, received_at: time(0), poll_id: 'p' },
        ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
      })),
    );
    const events = this.#perEvent().flatMap(({ event, observed, market }) =>
      observed.flatMap(([from, to], i): [number, string, Values][] => {
        const on = { stream: 'order-book', connection_id: `${event} ${i}`, event, markets: [market] };
        return [
          [from, 'subscribed', on],
          [to, 'unsubscribed', { ...on, cause: 'test' }],
        ];
      }),
    );
    const session = [[-1, 'session-started', {}], ...events, [60 * DAY, 'session-stopped', { cause: 'done' }]] as const;
    await data.insert(
      'collector_events',
      session.map(([at, type, fields], i) => collectorEvent('s', i + 1, time(at), type, fields)),
    );
    await data.insert('price_ticks', this.#markets.flatMap(ticksOf));
    const payouts = this.#markets.flatMap(payoutsOf);
    await data.insert('transaction_records', payouts);
    const { receipt, page } = polled('activity', '', time(this.#completeTo));
    await data.insert('polls', [receipt]);
    await data.insert('account_pages', [{ ...page, items: 0 }]);
    await data.insert('activity_records', this.#markets.flatMap(activityOf));
  }

  /** In order of weighting, market and horizon. */
  forecasts(): Forecast[] {
    const byName = [...this.results()].sort((a, b) => (a.market < b.market ? -1 : 1));
    return ['time', 'trades'].flatMap((weighting) =>
      byName.flatMap((one) => {
        const closeAt = Math.min(one.plannedAt, one.resolvedAt);
        return HORIZONS.flatMap(([horizon, seconds], i) => {
          const at = closeAt - seconds;
          if (at < one.openedAt) return [];
          const before = closeAt - (HORIZONS[i + 1]?.[1] ?? Number.POSITIVE_INFINITY);
          const forecast = weighting === 'time' ? byTime(one, at) : this.#byTrades(one, before, at);
          const { event, market, result, basis } = one;
          return [{ weighting, horizon, event, market, result, basis, ...forecast }];
        });
      }),
    );
  }

  #byTrades({ trades }: SampledMarket, after: number, at: number): Pick<Forecast, 'state' | 'forecast' | 'weight'> {
    if (at > this.#completeTo) return { state: 'missing', forecast: null, weight: 0 };
    const prices = trades.filter((one) => one.at > after && one.at <= at).map(({ price }) => price);
    if (prices.length === 0) return { state: 'no trade', forecast: null, weight: 0 };
    const forecast = prices.reduce((total, price) => total + price, 0) / prices.length;
    return { state: 'observed', forecast, weight: prices.length };
  }

  #perEvent(): SampledMarket[] {
    return this.#markets.filter((_, i) => i % MARKETS_OF_EVENT === 0);
  }

  #event(i: number): SampledMarket[] {
    const random = this.#random;
    const openedAt = random.integer(-10, 8) * DAY;
    const plannedAt = random.integer(25, 45) * DAY + random.integer(0, 86_399);
    const gapAt = random.integer(DAY, 44 * DAY);
    const start = Math.max(0, openedAt);
    const observed = [
      [start, Math.max(start + 1, gapAt)],
      [Math.max(start + 1, gapAt) + random.integer(1, 3) * HOUR, 50 * DAY],
    ] as const;
    return Array.from({ length: MARKETS_OF_EVENT }, (_, j) => {
      const kind = random.next();
      const truth = random.next();
      const resolvedAt = random.next() < 0.3 ? plannedAt - random.integer(1, 5 * DAY) : plannedAt + HOUR;
      const price = () => random.pick(CENTS) / 100;
      const moment = () => random.integer(start, resolvedAt - 1);
      return {
        ...{ event: `e${i}`, market: `e${i}m${j}`, openedAt, plannedAt, resolvedAt, observed },
        ticks: Array.from({ length: random.integer(5, 40) }, () => ({ at: moment(), price: price() })),
        trades: Array.from({ length: random.integer(0, 60) }, () => ({
          ...{ at: moment(), price: price(), takerGetsYes: random.next() < 0.6 },
        })),
        result: truth < 0.4 ? 1 : 0,
        basis: kind < 0.6 ? 'final chance' : kind < 0.9 ? 'payout' : kind < 0.95 ? 'void' : 'none',
      };
    });
  }
}

function byTime({ ticks, observed }: SampledMarket, at: number): Pick<Forecast, 'state' | 'forecast' | 'weight'> {
  // Of ticks at the same moment the later one.
  const last = ticks.filter((one) => one.at <= at).reduce((best, one) => (best && best.at > one.at ? best : one), NONE);
  const known = last && observed.some(([from, to]) => from <= last.at && to >= at);
  return known
    ? { state: 'observed', forecast: last.price, weight: 1 }
    : { state: 'missing', forecast: null, weight: 0 };
}

const NONE = undefined as { at: number; price: number } | undefined;

function observationOf({ event, market, openedAt, plannedAt }: SampledMarket): Values {
  return eventSeen(event, time(0), { markets: [market], created_at: time(openedAt), closes_at: time(plannedAt) });
}

function ticksOf({ market, event, ticks, basis, resolvedAt, result }: SampledMarket): Values[] {
  const prices = ticks.map(({ at, price }) => tick(market, time(at), price, { event }));
  if (basis !== 'final chance') return prices;
  return [...prices, tick(market, time(resolvedAt), result, { event, bid: null, ask: null })];
}

function payoutsOf({ market, basis, resolvedAt, result }: SampledMarket): Values[] {
  if (basis !== 'payout' && basis !== 'void') return [];
  const outcomes = basis === 'void' ? ['yes', 'no'] : [result === 1 ? 'yes' : 'no'];
  return outcomes.map((outcome) => ({
    ...{ ...seen('ann', time(resolvedAt + 60), 'p'), transaction_id: `${market} ${outcome}`, amount: '1' },
    ...{ asset: `${market} ${outcome}`, type: 'PAYOUT', status: 'COMPLETED', created_at: time(resolvedAt) },
  }));
}

/** Trades of YES and NO, bought and sold by turns, all with the same YES price and direction. */
function activityOf({ market, trades }: SampledMarket): Values[] {
  return trades.map(({ at, price, takerGetsYes }, i) => {
    const primary = i % 2 === 0;
    return {
      ...seen('', time(50 * DAY), 'p'),
      ...{ trade_record_id: `${market} ${i}`, market, is_primary: primary, position: primary ? 'YES' : 'NO' },
      ...{ side: takerGetsYes === primary ? 'BUY' : 'SELL', quantity: String(1 + (i % 3)) },
      ...{ price: (primary ? price : 1 - price).toFixed(3), executed_at: time(at) },
    };
  });
}
