import { normalised } from '../amounts.js';
import { type Comparison, compareRows, type KeyedRow } from '../comparison.js';
import type { CandleRow } from '../recorded.js';
import type { ShownPrice } from './prices.js';

/**
 * Compares candles with those that follow from the ledger's prices at the times at which the matched rows were received.
 * Only periods that ended before `until`, because audits add rows while tables are read.
 * @param shown by market, in the order of the bus
 * @param until Unix microseconds
 */
export function compareCandles(
  shown: ReadonlyMap<string, readonly ShownPrice[]>,
  found: readonly CandleRow[],
  periodSeconds: number,
  until: number,
): Comparison {
  const firstOpen = Math.floor(until / 1_000_000 / periodSeconds) * periodSeconds;
  const isOver = ([key]: KeyedRow) => Number(key.split(' ')[1]) < firstOpen;
  const expected = [...shown].flatMap(([market, prices]) => candlesOf(market, prices, periodSeconds));
  const rows = found.map(({ key, value }) => [key.join(' '), value.join(' ')] as const);
  return compareRows(`candles of ${periodSeconds} s`, expected.filter(isOver), rows.filter(isOver));
}

const NO_MID = ['NULL', 'NULL', 'NULL', 'NULL'];

function candlesOf(market: string, prices: readonly ShownPrice[], periodSeconds: number): KeyedRow[] {
  const periods = new Map<number, ShownPrice[]>();
  for (const price of prices) {
    // 0 and 1 are the result of a resolved market, not the price of a trade.
    if (price.price.c === 0 || price.price.c === 1) continue;
    const begins = Math.floor(price.receivedAt / 1_000_000 / periodSeconds) * periodSeconds;
    const period = periods.get(begins);
    if (period) period.push(price);
    else periods.set(begins, [price]);
  }
  return [...periods].map(([begins, ticks]) => {
    // Equal receive times stay in the order of the bus.
    const sorted = ticks.toSorted((x, y) => x.receivedAt - y.receivedAt);
    const lasts = sorted.map(({ price }) => price.c);
    const { c, b, a } = (sorted.at(-1) as ShownPrice).price;
    // One-sided and crossed books have no mid.
    const mids = sorted.flatMap(({ price }) =>
      price.b === 0 || price.a === 1 || price.b > price.a ? [] : [(price.b + price.a) / 2],
    );
    const ofMid = mids.length === 0 ? NO_MID : [mids[0], Math.max(...mids), Math.min(...mids), mids.at(-1)];
    const values = [lasts[0], Math.max(...lasts), Math.min(...lasts), c, b === 0 ? 'NULL' : b, a === 1 ? 'NULL' : a];
    return [
      `${market} ${begins}`,
      [...values, ...ofMid, ticks.length].map((value) => normalised(String(value))).join(' '),
    ];
  });
}
