import { groupBy } from '../../core/index.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { type FillSide, sidesOf } from '../fills.js';
import type { LedgerFill } from '../truth.js';
import { isResult } from './book-prices.js';
import type { FiguresInput } from './input.js';
import { LONG, SHORT } from './questions.js';
import { compareFigureRows, figure, keyedRows, NULL, periodOf, sameFigure, sharesText, usdc } from './texts.js';

/** A fill, as a scope has it. */
interface ScopedFill {
  readonly fill: LedgerFill;
  readonly side: FillSide;
  /** Hundredths of shares. */
  readonly size: bigint;
}

const secondsOf = ({ fill }: ScopedFill, period: number): number => periodOf(fill.at / 1_000_000, period);
const total = (fills: readonly ScopedFill[], of: (one: ScopedFill) => bigint): bigint =>
  fills.reduce((sum, one) => sum + of(one), 0n);

/** Sums and percentiles of fills by period: of all users, and of the recorded accounts. */
export function compareFills(input: FiguresInput): Comparison[] {
  const { ledger, accounts, figures, unlisted } = input;
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const scoped = (own: boolean): ScopedFill[] =>
    ledger.fills.flatMap((fill) => {
      const { taker, maker } = sidesOf(fill, yesAssets);
      const [isTaker, isMaker] = [taker, maker].map(({ userId }) => accounts.names.has(userId));
      if (own && !isTaker && !isMaker) return [];
      // A fill between two recorded accounts counts once, from the side of the taker.
      return [{ fill, side: own && !isTaker ? maker : taker, size: BigInt(Math.round(fill.quantity * 100)) }];
    });
  const scopes = [
    ['all', scoped(false)],
    ['own', scoped(true)],
  ] as const;
  const byMarket = (text: (fills: readonly ScopedFill[]) => string): KeyedRow[] =>
    scopes.flatMap(([scope, fills]) =>
      [...groupBy(fills, (one) => `${scope} ${one.fill.marketId} ${secondsOf(one, LONG)}`)].map(
        ([key, own]): KeyedRow => [key, text(own)],
      ),
    );
  const isListed = ([key]: KeyedRow) => !unlisted.markets.has(key.split(' ')[1] ?? '');
  const [, all] = scopes[0];
  const ofEvents = [...groupBy(all, (one) => `${one.fill.eventId} ${secondsOf(one, LONG)}`)];
  return [
    compareFigureRows('sizes of trades', byMarket(sizesText), keyedRows(figures['sizes of trades'], { 1: sameFigure })),
    compareFigureRows(
      'imbalance of trades',
      byMarket(imbalanceText).filter(isListed),
      keyedRows(figures['imbalance of trades'], { 6: sameFigure }).filter(isListed),
    ),
    compareFigureRows(
      'traders by event',
      ofEvents
        .filter(([key]) => !unlisted.events.has(key.split(' ')[0] ?? ''))
        .map(([key, own]) => [key, `${new Set(own.map(({ side }) => side.userId)).size} ${own.length} 0`]),
      // A row without an event has the fills of markets that event search never listed.
      keyedRows(figures['traders by event']).filter(
        ([key]) => key.split(' ')[0] !== '' && !unlisted.events.has(key.split(' ')[0] ?? ''),
      ),
    ),
    compareCandles(input, all),
  ];
}

function sizesText(fills: readonly ScopedFill[]): string {
  const sizes = fills.map(({ size }) => size).sort((a, b) => Number(a - b));
  // By the nearest rank.
  const percentile = (percent: number) => sharesText(sizes[Math.ceil((sizes.length * percent) / 100) - 1] ?? 0n);
  return [
    ...[
      fills.length,
      figure(Number(total(fills, ({ size }) => size)) / 100 / fills.length),
      sharesText(sizes[0] ?? 0n),
    ],
    ...[10, 50, 90, 99].map(percentile),
    sharesText(sizes.at(-1) ?? 0n),
  ].join(' ');
}

function imbalanceText(fills: readonly ScopedFill[]): string {
  const isBought = ({ side: { outcome, side } }: ScopedFill) => (outcome === 'YES') === (side === 'BUY');
  const [bought, sold] = [fills.filter(isBought), fills.filter((one) => !isBought(one))];
  const [gained, lost] = [bought, sold].map((own) => total(own, ({ size }) => size)) as [bigint, bigint];
  return [
    ...[bought.length, sold.length, 0, sharesText(gained), sharesText(lost), sharesText(gained - lost)],
    figure(Number(gained - lost) / Number(gained + lost)),
  ].join(' ');
}

/** Candles of the price of the last trade, with the fills of the same periods. */
function compareCandles(
  { prices, figures, closedAt, unlisted }: FiguresInput,
  fills: readonly ScopedFill[],
): Comparison {
  const candles = new Map<string, string>();
  const keys = new Set<string>();
  const traded = groupBy(fills, (one) => `${one.fill.marketId} ${secondsOf(one, SHORT)}`);
  for (const market of prices.markets) {
    const ticks = prices.of(market).filter((tick) => !isResult(tick));
    for (const [begins, own] of groupBy(ticks, ({ receivedAt }) => periodOf(receivedAt / 1_000_000, SHORT))) {
      const lasts = own.map(({ price }) => price.c);
      const values = [lasts[0] ?? 0, Math.max(...lasts), Math.min(...lasts), lasts.at(-1) ?? 0];
      candles.set(`${market} ${begins}`, [...values.map(figure), own.length].join(' '));
    }
  }
  for (const key of [...candles.keys(), ...traded.keys()]) keys.add(key);
  const expected = [...keys].map((key): KeyedRow => {
    const own = traded.get(key) ?? [];
    const shares = total(own, ({ size }) => size);
    const yesCents = ({ side: { outcome, cents } }: ScopedFill) => BigInt(outcome === 'YES' ? cents : 100 - cents);
    const yesValue = total(own, (one) => one.size * yesCents(one));
    const volume = total(own, ({ size, side }) => size * BigInt(side.cents) * 100n);
    return [
      key,
      [
        candles.get(key) ?? `${NULL} ${NULL} ${NULL} ${NULL} 0`,
        ...[
          own.length,
          sharesText(shares),
          usdc(volume),
          figure(shares === 0n ? null : Number(yesValue) / Number(shares) / 100),
        ],
      ].join(' '),
    ];
  });
  const isCompared = ([key]: KeyedRow) => {
    const [market = '', second] = key.split(' ');
    return !unlisted.markets.has(market) && Number(second) < periodOf(closedAt / 1_000_000, SHORT);
  };
  const how = { 0: sameFigure, 1: sameFigure, 2: sameFigure, 3: sameFigure, 8: sameFigure };
  return compareFigureRows(
    'candles with volume',
    expected.filter(isCompared),
    keyedRows(figures['candles with volume'], how).filter(isCompared),
  );
}
