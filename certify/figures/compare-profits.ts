import { groupBy } from '../../core/index.js';
import { CLOCK_MICROS } from '../align.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { worthOf } from './book-prices.js';
import { compareReconciled } from './compare-reconciled.js';
import type { FiguresInput } from './input.js';
import {
  equityCurves,
  type PeriodProfit,
  type Profit,
  type ProfitInput,
  performances,
  presentProfits,
  profitsByPeriod,
  resolutionTimes,
  sumsOf,
} from './profits.js';
import { PRICE_KINDS, type PriceKind, SHORT } from './questions.js';
import { compareFigureRows, figure, keyedRows, periodOf, sameFigure, sharesText, usdc } from './texts.js';

const KNOWN = 'known afterwards';

/** Profit and loss of the recorded accounts: by period, as curves, and the sums of the present. */
export function compareProfits(input: FiguresInput): Comparison[] {
  return [...compareCurves(input), ...comparePresent(input)];
}

function compareCurves({ ledger, accounts, assets, prices, figures, closedAt, unlisted }: FiguresInput): Comparison[] {
  const resolvedAt = resolutionTimes(ledger.prices);
  const profits: ProfitInput = {
    ...{
      assets,
      prices,
      withTransactions: accounts.withTransactions,
      until: Math.max(closedAt, prices.lastReceivedAt),
    },
    paidAt: new Map([
      ...resolvedAt,
      ...ledger.markets.flatMap(({ marketId, voidedAt }) =>
        voidedAt === undefined ? [] : [[marketId, voidedAt] as const],
      ),
    ]),
    knownAt: new Map(
      figures['times of resolutions'].map(({ key: [market = ''], value: [at] }) => [market, Number(at)]),
    ),
  };
  const isOver = ([key]: KeyedRow) => Number(key.split(' ').at(-1)) < periodOf(closedAt / 1_000_000, SHORT);
  const isWhole = isOfListed(assets, unlisted.markets);
  const isListed = ([key]: KeyedRow) => !unlisted.assets.has(key.split(' ')[1] ?? '');
  const [atMid, atBid, atChance] = (['mid', 'bid', 'chance'] as const).map((kind) =>
    profitsByPeriod(profits, SHORT, kind),
  ) as [PeriodProfit[], PeriodProfit[], PeriodProfit[]];
  const curves = equityCurves(atBid).map(
    (row): KeyedRow => [
      `${row.account} ${row.period}`,
      [
        ...[row.trades, usdc(row.cost), usdc(row.value), row.unpriced, usdc(row.realised), usdc(row.fifoRealised)],
        ...[usdc(row.cashFlow), usdc(row.fees), usdc(row.pnl), usdc(row.equity), usdc(row.drawdown)],
      ].join(' '),
    ],
  );
  const chanceCurves = equityCurves(atChance);
  const traders = performances(atChance, chanceCurves).map(
    (row): KeyedRow => [
      row.account,
      [
        ...[row.firstPeriod, row.trades, usdc(row.pnl), row.unpriced, row.unpricedPeriods, usdc(row.maxDrawdown)],
        usdc(row.maxCapital),
        figure(row.pnl === null || row.maxCapital === 0n ? null : Number(row.pnl) / Number(row.maxCapital)),
        ...[row.closedMarkets, row.wonMarkets],
        figure(row.closedMarkets === 0 ? null : row.wonMarkets / row.closedMarkets),
      ].join(' '),
    ],
  );
  return [
    compareResolutionTimes(resolvedAt, profits.knownAt, unlisted.markets),
    compareFigureRows(
      'profit by period',
      atMid.map(periodRow).filter((row) => isOver(row) && isListed(row)),
      keyedRows(figures['profit by period']).filter((row) => isOver(row) && isListed(row)),
    ),
    compareFigureRows(
      'equity curves',
      curves.filter((row) => isOver(row) && isWhole(row)),
      keyedRows(figures['equity curves']).filter((row) => isOver(row) && isWhole(row)),
    ),
    compareFigureRows(
      'account performance',
      traders.filter(isWhole),
      keyedRows(figures['account performance'], { 7: sameFigure, 10: sameFigure }).filter(isWhole),
    ),
  ];
}

/** Of an account that traded a market which event search never listed, sums are unknown. */
function isOfListed(assets: FiguresInput['assets'], unlisted: ReadonlySet<string>): (row: KeyedRow) => boolean {
  const partly = new Set(assets.filter(({ market }) => unlisted.has(market.marketId)).map(({ account }) => account));
  return ([key]) => !partly.has(key.split(' ')[0] ?? '');
}

/** Shares of several markets have no meaning together. */
const withoutShares = ([key, text]: KeyedRow): KeyedRow => [key, text.split(' ').slice(3).join(' ')];

/** When the final chance of a market was received: not before its resolution. */
function compareResolutionTimes(
  resolvedAt: ReadonlyMap<string, number>,
  knownAt: ReadonlyMap<string, number>,
  unlisted: ReadonlySet<string>,
): Comparison {
  const markets = [...resolvedAt].filter(([market]) => !unlisted.has(market));
  const found = markets.flatMap(([market, at]): KeyedRow[] => {
    const known = knownAt.get(market);
    if (known === undefined || Number.isNaN(known)) return [];
    return [[market, known >= at - CLOCK_MICROS ? KNOWN : `known ${at - known} microseconds before`]];
  });
  return compareFigureRows(
    'times of resolutions',
    markets.map(([market]) => [market, KNOWN]),
    found,
  );
}

const periodRow = (row: PeriodProfit): KeyedRow => [
  `${row.account} ${row.asset} ${row.period}`,
  [
    ...[row.trades, sharesText(row.shares), usdc(row.price), usdc(row.cashFlow), usdc(row.payout), usdc(row.fees)],
    ...[usdc(row.cost), usdc(row.fifoCost), usdc(row.value), usdc(row.realised)],
    ...[usdc(row.value === null ? null : row.value - row.cost), usdc(row.fifoRealised)],
    ...[usdc(row.value === null ? null : row.value - row.fifoCost), usdc(row.pnl)],
  ].join(' '),
];

function comparePresent(input: FiguresInput): Comparison[] {
  const { ledger, assets, prices, figures, unlisted } = input;
  const listed = assets.filter(({ market }) => !unlisted.markets.has(market.marketId));
  const chances = new Map(ledger.markets.map(({ marketId, openingChance }) => [marketId, openingChance]));
  for (const { marketId, c } of ledger.prices) chances.set(marketId, c);
  const yesChance = (market: string) => BigInt(Math.round((chances.get(market) ?? 0) * 1e6));
  const at = (kind: PriceKind): Profit[] =>
    presentProfits(listed, (market, outcome) => {
      if (kind !== 'chance') return worthOf(prices.of(market).at(-1), outcome, kind);
      return outcome === 'YES' ? yesChance(market) : 1_000_000n - yesChance(market);
    });
  const profits = new Map(PRICE_KINDS.map((kind) => [kind, at(kind)]));
  const of = (kind: PriceKind) => profits.get(kind) ?? [];
  const isWhole = isOfListed(assets, unlisted.markets);
  const isListed = (set: ReadonlySet<string>, position: number) => (row: KeyedRow) =>
    !set.has(row[0].split(' ')[position] ?? '');
  return [
    compareFigureRows(
      'profit by market',
      summed(of('chance'), ({ account, market }) => `${account} ${market}`),
      keyedRows(figures['profit by market']).filter(isListed(unlisted.markets, 1)),
    ),
    compareFigureRows(
      'profit by event',
      summed(of('chance'), ({ account, event }) => `${account} ${event}`)
        .filter(isListed(unlisted.events, 1))
        .map(withoutShares),
      keyedRows(figures['profit by event']).filter(isListed(unlisted.events, 1)),
    ),
    compareFigureRows(
      'profit by market at bid',
      summed(of('bid'), ({ account, market }) => `${account} ${market}`),
      keyedRows(figures['profit by market at bid']).filter(isListed(unlisted.markets, 1)),
    ),
    compareFigureRows(
      'profit by account at mid',
      summed(of('mid'), ({ account }) => account)
        .filter(isWhole)
        .map(withoutShares),
      keyedRows(figures['profit by account at mid']).filter(isWhole),
    ),
    compareFigureRows(
      'profit at mid',
      of('mid').map((one) => [`${one.account} ${one.asset}`, profitText(one)]),
      keyedRows(figures['profit at mid']).filter(isListed(unlisted.assets, 1)),
    ),
    ...PRICE_KINDS.map((kind) =>
      compareFigureRows(
        `zero-sum by market at ${kind}`,
        [...groupBy(of(kind), ({ market }) => market)].map(([market, own]) => [
          market,
          zeroSumText(market, own, assets),
        ]),
        keyedRows(figures[`zero-sum by market at ${kind}`]).filter(isListed(unlisted.markets, 0)),
      ),
    ),
    ...compareReconciled(input, of('chance')),
    compareFigureRows(
      'open interest',
      [
        ...groupBy(
          of('chance').filter(({ shares }) => shares > 0n),
          ({ market }) => market,
        ),
      ].map(([market, own]) => {
        const { yesShares, noShares } = sumsOf(own);
        const most = yesShares > noShares ? yesShares : noShares;
        const accounts = new Set(own.map(({ account }) => account)).size;
        return [market, [...[yesShares, noShares, most].map(sharesText), accounts].join(' ')];
      }),
      keyedRows(figures['open interest']).filter(isListed(unlisted.markets, 0)),
    ),
  ];
}

/** At mid; the price of a settled asset is what it paid. */
function profitText({ book, payout, cost, fifoCost, price, value }: Profit): string {
  const gained = book.sold - book.bought + payout - book.fees;
  const less = (amount: bigint) => usdc(value === null ? null : value - amount);
  return [usdc(price), usdc(value), less(cost), less(fifoCost), less(-gained)].join(' ');
}

function summed(profits: readonly Profit[], keyOf: (profit: Profit) => string): KeyedRow[] {
  return [...groupBy(profits, keyOf)].map(([key, own]) => {
    const { yesShares, noShares, trades, bought, sold, payout, fees, cost, fifoCost, value } = sumsOf(own);
    const pairs = yesShares < noShares ? yesShares : noShares;
    const cashFlow = sold - bought + payout;
    const less = (amount: bigint) => usdc(value === null ? null : value - amount);
    return [
      key,
      [
        ...[yesShares, noShares, pairs].map(sharesText),
        ...[trades, usdc(bought), usdc(sold), usdc(payout), usdc(fees), usdc(cashFlow)],
        ...[usdc(cost), usdc(fifoCost), usdc(value), usdc(cashFlow + cost), less(cost), usdc(cashFlow + fifoCost)],
        ...[less(fifoCost), less(fees - cashFlow)],
      ].join(' '),
    ];
  });
}

/** The profit of all recorded accounts in a market, and the fills that have another account on one side. */
function zeroSumText(market: string, own: readonly Profit[], assets: FiguresInput['assets']): string {
  const { yesShares, noShares, bought, sold, payout, fees, value } = sumsOf(own);
  const cashFlow = sold - bought + payout;
  const sides = groupBy(
    assets.filter((one) => one.market.marketId === market).flatMap(({ trades }) => trades),
    ({ tradeId }) => tradeId,
  );
  const oneSided = [...sides.values()].filter(({ length }) => length !== 2).length;
  const plus = (amount: bigint) => usdc(value === null ? null : value + amount);
  return [
    ...[new Set(own.map(({ account }) => account)).size, oneSided, sharesText(yesShares), sharesText(noShares)],
    ...[usdc(cashFlow), usdc(value), usdc(fees), plus(cashFlow - fees), plus(cashFlow)],
  ].join(' ');
}
