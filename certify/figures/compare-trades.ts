import { groupBy } from '../../core/index.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { type FillSide, sidesOf, type Volume, volumeBy } from '../fills.js';
import type { LedgerFill } from '../truth.js';
import type { FiguresInput } from './input.js';
import { compareFigureRows, figure, keyedRows, NULL, sameFigure, sharesText, usdc } from './texts.js';

const SECOND = 1_000_000;
/** Rates of fewer markets are not computed. */
const MIN_MARKETS = 30;

/** What fills say of markets, and of their prices once they are resolved. */
export const compareTrades = (input: FiguresInput): Comparison[] => [
  compareLives(input),
  compareTraders(input),
  compareLeaders(input),
  compareLongshots(input),
];

/** The exchange sends milliseconds. */
const sentAt = ({ at }: LedgerFill): number => Math.floor(at / 1000) * 1000;

function compareLives({ ledger, prices, figures, unlisted }: FiguresInput): Comparison {
  const fills = groupBy(ledger.fills, ({ marketId }) => marketId);
  const expected = ledger.markets.flatMap(({ marketId, eventId, resolved }): KeyedRow[] => {
    if (unlisted.markets.has(marketId)) return [];
    const times = (fills.get(marketId) ?? []).map(sentAt);
    return [
      [
        marketId,
        [
          ...[eventId, prices.of(marketId)[0]?.receivedAt ?? NULL],
          ...(times.length === 0 ? [NULL, NULL] : [Math.min(...times), Math.max(...times)]),
          ...[times.length, resolved === 'YES' ? 1 : resolved === 'NO' ? 0 : NULL],
        ].join(' '),
      ],
    ];
  });
  return compareFigureRows('lives of markets', expected, keyedRows(figures['lives of markets']));
}

/** Users who were the taker. */
function compareTraders({ ledger, figures, times }: FiguresInput): Comparison {
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const inside = ledger.fills.filter((fill) => sentAt(fill) >= times.from * SECOND && sentAt(fill) < times.to * SECOND);
  const expected = [...groupBy(inside, ({ marketId }) => marketId)].map(([market, own]): KeyedRow => {
    const users = new Set(own.map((fill) => sidesOf(fill, yesAssets).taker.userId));
    return [market, `${users.size} ${own.length} 0`];
  });
  return compareFigureRows('traders of a window', expected, keyedRows(figures['traders of a window']));
}

/** Markets by volume: of all users, and of the recorded accounts. */
function compareLeaders({ ledger, accounts, figures, unlisted }: FiguresInput): Comparison {
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const sidesIn = (fill: LedgerFill) => sidesOf(fill, yesAssets);
  const isOwn = ({ userId }: FillSide) => accounts.names.has(userId);
  const marketOf = ({ marketId }: LedgerFill) => marketId;
  const own = ledger.fills.filter((fill) => Object.values(sidesIn(fill)).some(isOwn));
  const ownSide = (fill: LedgerFill) => Object.values(sidesIn(fill)).find(isOwn) ?? sidesIn(fill).taker;
  const ranked = (scope: string, volumes: ReadonlyMap<string, Volume>): KeyedRow[] => {
    const sorted = [...volumes].sort(([x, one], [y, other]) => other.micros - one.micros || (x < y ? -1 : 1));
    const total = sorted.reduce((sum, [, { micros }]) => sum + micros, 0);
    return sorted.map(([market, { trades, hundredths, micros, yesMicros }], i) => {
      const takers = ledger.fills
        .filter(({ marketId }) => marketId === market)
        .map((fill) => sidesIn(fill).taker.userId);
      return [
        `${scope} ${i + 1}`,
        [
          ...[market, trades, sharesText(BigInt(hundredths)), usdc(BigInt(micros)), figure(micros / total)],
          // Which outcome an own trade of an unlisted market had is unknown.
          figure(scope === 'own' && unlisted.markets.has(market) ? null : yesMicros / hundredths / 10_000),
          scope === 'all' ? new Set(takers).size : NULL,
        ].join(' '),
      ];
    });
  };
  const expected = [
    ...ranked(
      'all',
      volumeBy(ledger.fills, (fill) => sidesIn(fill).taker, marketOf),
    ),
    ...ranked('own', volumeBy(own, ownSide, marketOf)),
  ];
  return compareFigureRows(
    'leaders by volume',
    expected,
    keyedRows(figures['leaders by volume'], { 4: sameFigure, 5: sameFigure }),
  );
}

/** A trade of a resolved market, as one of its sides has it. */
interface Bet {
  readonly market: string;
  readonly role: 'taker' | 'maker';
  /** Of YES. */
  readonly cents: number;
  readonly isYes: boolean;
  readonly won: boolean;
}

function compareLongshots({ ledger, figures, unlisted }: FiguresInput): Comparison {
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const markets = new Map(ledger.markets.map((market) => [market.marketId, market]));
  const bets = ledger.fills.flatMap((fill): Bet[] => {
    const { resolved = null } = markets.get(fill.marketId) ?? {};
    if (resolved === null || resolved === 'VOID' || unlisted.markets.has(fill.marketId)) return [];
    const { outcome, side, cents } = sidesOf(fill, yesAssets).taker;
    const takesYes = (outcome === 'YES') === (side === 'BUY');
    const bet = {
      ...{ market: fill.marketId, cents: outcome === 'YES' ? cents : 100 - cents, won: resolved === 'YES' },
    };
    return [
      { ...bet, role: 'taker', isYes: takesYes },
      { ...bet, role: 'maker', isYes: !takesYes },
    ];
  });
  const roles = [
    ...[...groupBy(bets, ({ role, cents }) => `${role} ${cents}`)].map(([key, own]) => [key, own, own] as const),
    ...[...groupBy(bets, ({ cents }) => `any ${cents}`)].map(([key, own]) => {
      // Every trade once, and both of its sides.
      return [key, own.filter(({ role }) => role === 'taker'), own] as const;
    }),
  ];
  const expected = roles.map(([key, trades, sides]): KeyedRow => {
    const count = (own: readonly Bet[]) => new Set(own.map(({ market }) => market)).size;
    const [yes, no] = [sides.filter(({ isYes }) => isYes), sides.filter(({ isYes }) => !isYes)];
    const cents = Number(key.split(' ')[1]);
    const won = (own: readonly Bet[]) => own.filter((bet) => bet.won === bet.isYes).length;
    const rate = (own: readonly Bet[], value: number) => figure(count(own) < MIN_MARKETS ? null : value);
    return [
      key,
      [
        ...[count(trades), trades.length, count(yes), count(no)],
        rate(trades, trades.filter((bet) => bet.won).length / trades.length),
        rate(yes, (100 * won(yes)) / (yes.length * cents) - 1),
        rate(no, (100 * won(no)) / (no.length * (100 - cents)) - 1),
      ].join(' '),
    ];
  });
  const how = { 4: sameFigure, 5: sameFigure, 6: sameFigure };
  return compareFigureRows('longshots', expected, keyedRows(figures.longshots, how));
}
