import { groupBy } from '../../core/index.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { sidesOf } from '../fills.js';
import type { FiguresInput } from './input.js';
import { QUOTE_MARGIN_MS } from './questions.js';
import { LATER, quoteAt } from './quotes.js';
import { compareFigureRows, figure, sameFigure } from './texts.js';

/** Microseconds after a trade, by the text of the view; those that a short run knows first. */
const DELAYS = [
  ['5s', 5_000_000],
  ['1min', 60_000_000],
  ['5min', 300_000_000],
] as const;
const ALL = 'all';
/** Fewer trades have no regression. */
const MIN_TRADES = 30;

/** A trade, and by how much mid had changed a while later. */
interface Move {
  /** Shares of YES bought, negative where they were sold. */
  readonly size: number;
  readonly change: number | null;
  /** Whether the mid that counts may still change, because trading was closed before that moment. */
  readonly isOpen: boolean;
}

/** How far trades move the price: a line through the sizes of trades and the changes of mid after them. */
export function compareImpact(input: FiguresInput): Comparison {
  const { ledger, figures, unlisted, closedAt, observed } = input;
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const moves = DELAYS.flatMap(([delay, micros]) =>
    ledger.fills.map((fill) => {
      const { outcome, side } = sidesOf(fill, yesAssets).taker;
      const at = Math.floor(fill.at / 1000) * 1000;
      const of = (moment: number) => quoteAt(input, fill.eventId, fill.marketId, moment);
      const [before, after] = [of(at - QUOTE_MARGIN_MS * 1000), of(at + micros)];
      const move: Move = {
        size: (outcome === 'YES') === (side === 'BUY') ? fill.quantity : -fill.quantity,
        change: before.mid === null || after.mid === null ? null : after.mid - before.mid,
        isOpen:
          at + micros > closedAt &&
          before.mid !== null &&
          // Known until trading was closed, and not yet until then.
          after.mid === null &&
          after.receivedAt !== null &&
          observed.all(fill.eventId, after.receivedAt, closedAt),
      };
      return { delay, market: fill.marketId, move };
    }),
  );
  const rows = [
    ...groupBy(
      moves.flatMap((one) => [{ ...one, market: ALL }, one]),
      ({ delay, market }) => `${market} ${delay}`,
      ({ move }) => move,
    ),
  ].sort(([x], [y]) => Number(y.endsWith('5s')) - Number(x.endsWith('5s')));
  const open = new Set(rows.filter(([, own]) => own.some(({ isOpen }) => isOpen)).map(([key]) => key));
  const expected = rows.map(
    ([key, own]): KeyedRow => [key, [own.length, ...(open.has(key) ? [LATER] : lineOf(own))].join(' ')],
  );
  const found = figures['price impact'].map(({ key, value }): KeyedRow => {
    const [trades = '', unquoted = '', ...line] = value;
    const values = open.has(key.join(' ')) ? [LATER] : [trades, ...line.map(sameFigure)];
    return [key.join(' '), [Number(trades) + Number(unquoted), ...values].join(' ')];
  });
  // The feed does not name the event of an unlisted market. So its trades count in the rows of all markets, and have none of their own.
  const isListed = ([key]: KeyedRow) => !unlisted.markets.has(key.split(' ')[0] ?? '');
  return compareFigureRows('price impact', expected.filter(isListed), found.filter(isListed));
}

/** Trades with a change; slope, its standard error, intercept, and the part of the variance that the line explains. */
function lineOf(moves: readonly Move[]): (string | number)[] {
  const known = moves.flatMap(({ size, change }) => (change === null ? [] : [{ size, change }]));
  const n = known.length;
  const none = [n, ...[null, null, null, null].map(figure)];
  if (n < MIN_TRADES) return none;
  const mean = (of: 'size' | 'change') => known.reduce((sum, one) => sum + one[of], 0) / n;
  const [size, change] = [mean('size'), mean('change')];
  const sum = (of: (x: number, y: number) => number) =>
    known.reduce((total, one) => total + of(one.size - size, one.change - change), 0);
  const [xx, xy, yy] = [sum((x) => x * x), sum((x, y) => x * y), sum((_, y) => y * y)];
  if (xx < 1e-9) return none;
  const slope = xy / xx;
  const left = sum((x, y) => (y - slope * x) ** 2);
  const error = Math.sqrt(left / (n - 2) / xx);
  return [n, figure(slope), figure(error), figure(change - slope * size), figure(yy < 1e-15 ? null : 1 - left / yy)];
}
