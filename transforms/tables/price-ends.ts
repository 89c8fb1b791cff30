import { logTable } from '../../warehouse/index.js';
import type { KeyColumn } from '../native/key-column.js';
import { lowCardinality, micros } from './column-types.js';

/** The first and last tick of a market in a large batch, for the materialized views that otherwise read all rows of price_ticks. */
export const priceEnds = logTable({
  name: 'price_ends',
  feedsMaterializedViews: true,
  columns: [
    ['first_received_at', micros.type],
    ['received_at', micros.type],
    ['event', lowCardinality.type],
    ['market', lowCardinality.type],
    ['last', 'Float64'],
    ['bid', 'Nullable(Float64)'],
    ['ask', 'Nullable(Float64)'],
  ],
});

/** Adds the first and the last row of each market among the rows from `row` to before `end`. */
export function addEnds({ row: start, end, market, receivedAt }: RowsOfMarkets, first: number[], last: number[]): void {
  const { keys } = market;
  const firsts = new Int32Array(market.size).fill(-1);
  const lasts = new Int32Array(market.size);
  for (let row = start; row < end; row++) {
    const key = keys[row] as number;
    const before = firsts[key] as number;
    if (before < 0) firsts[key] = row;
    // A clock that was set back.
    else if (isEarlier(receivedAt, row, lasts[key] as number)) {
      if (isEarlier(receivedAt, row, before)) firsts[key] = row;
      continue;
    }
    lasts[key] = row;
  }
  for (let key = 0; key < market.size; key++) {
    if ((firsts[key] as number) < 0) continue;
    first.push(firsts[key] as number);
    last.push(lasts[key] as number);
  }
}

interface RowsOfMarkets {
  readonly row: number;
  readonly end: number;
  readonly market: KeyColumn;
  /** Lower and upper halves of the receive times. */
  readonly receivedAt: Uint32Array;
}

function isEarlier(halves: Uint32Array, a: number, b: number): boolean {
  const high = (halves[a * 2 + 1] as number) - (halves[b * 2 + 1] as number);
  return high < 0 || (high === 0 && (halves[a * 2] as number) < (halves[b * 2] as number));
}
