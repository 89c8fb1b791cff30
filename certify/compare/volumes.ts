import { CENTS, decimalText, HUNDREDTHS } from '../amounts.js';
import { type Comparison, compareRows, Differences, type KeyedRow, notCompared } from '../comparison.js';
import { type FillSide, sidesOf, type Volume, volumeBy } from '../fills.js';
import type { RecordedAccounts } from '../recorded.js';
import type { Ledger, LedgerFill } from '../truth.js';
import { compareListed, type Unlisted, unlistedOf } from '../unlisted.js';

/** A quotient of exact sums is rounded once in the ledger's figure and up to three times in the view's. */
const VWAP_TOLERANCE = 1e-14;

/** Fills of all users, and the sums over them. */
export function compareVolumes(ledger: Ledger, recorded: RecordedAccounts): Comparison[] {
  if (recorded.names.size === 0) {
    return ['fills of all users', ...VOLUMES.map(({ name }) => name), 'VWAP'].map((name) =>
      notCompared(name, 'no account is recorded, and the activity feed needs one'),
    );
  }
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const takerOf = (fill: LedgerFill) => sidesOf(fill, yesAssets).taker;
  const { fills } = ledger;
  const own = ownFills(ledger, recorded.names);
  const unlisted = unlistedOf(ledger, recorded);
  return [
    compareRows(
      'fills of all users',
      fills.map((fill) => [fillText(fill, yesAssets), '']),
      recorded.activity.map(({ key }) => [key.join(' '), '']),
    ),
    ...VOLUMES.map(({ name, by, keyOf }) =>
      compareListed(
        name,
        [...rowsOf('all', volumeBy(fills, takerOf, keyOf)), ...rowsOf('own', volumeBy(own, ownSide, keyOf))],
        recorded.volumes[by].map(({ key, value }) => [key.join(' '), value.join(' ')]),
        isUnknown(by, unlisted),
        by === 'minute'
          ? `${CLOSED_BEFORE}, and which outcome was traded is unknown`
          : `${CLOSED_BEFORE}, and the activity feed does not name the event`,
      ),
    ),
    compareVwap(
      new Map([
        ['all', volumeBy(fills, takerOf, ({ marketId }) => marketId)],
        ['own', volumeBy(own, ownSide, ({ marketId }) => marketId)],
      ]),
      recorded,
      unlisted,
    ),
  ];

  /** A fill between two recorded accounts counts once, from the side of the taker. */
  function ownSide(fill: LedgerFill) {
    const { taker, maker } = sidesOf(fill, yesAssets);
    return recorded.names.has(taker.userId) ? taker : maker;
  }
}

const CLOSED_BEFORE = 'their events closed before recording began';

/** Whether a row cannot be known, because event search did not list its market. */
function isUnknown(by: (typeof VOLUMES)[number]['by'], unlisted: Unlisted): (key: string) => boolean {
  if (by === 'event') return isOfUnknownEvent(unlisted);
  if (by !== 'minute') return () => false;
  return (key) => {
    const [scope, , market = ''] = key.split(' ');
    return scope === 'own' && (market === '' || unlisted.markets.has(market));
  };
}

/** Whether a row of all users is of an event that the feed does not name, or has the fills without an event. */
const isOfUnknownEvent =
  ({ events }: Unlisted) =>
  (key: string): boolean => {
    const [scope, event = ''] = key.split(' ');
    return scope === 'all' && (events.has(event) || (event === '' && events.size > 0));
  };

const VOLUMES = [
  { name: 'volume by market', by: 'market', keyOf: ({ marketId }: LedgerFill) => marketId },
  { name: 'volume by event', by: 'event', keyOf: ({ eventId }: LedgerFill) => eventId },
  { name: 'volume by day', by: 'day', keyOf: ({ at }: LedgerFill) => new Date(at / 1000).toISOString().slice(0, 10) },
  {
    name: 'volume by minute, outcome and side',
    by: 'minute',
    keyOf: ({ at, marketId }: LedgerFill, { outcome, side }: FillSide) =>
      [Math.floor(at / 60e6) * 60, marketId, outcome, side].join(' '),
  },
] as const;

const ownFills = ({ fills }: Ledger, names: ReadonlyMap<string, string>): LedgerFill[] =>
  fills.filter(({ buyer, seller }) => names.has(buyer) || names.has(seller));

/** One side of a fill, the taker's; the feed's times are milliseconds. */
function fillText(fill: LedgerFill, yesAssets: ReadonlySet<string>): string {
  const { userId, outcome, side, cents } = sidesOf(fill, yesAssets).taker;
  const quantity = decimalText(BigInt(Math.round(fill.quantity * 100)), HUNDREDTHS);
  const price = decimalText(BigInt(cents), CENTS);
  return [userId, fill.marketId, outcome, side, quantity, price, Math.floor(fill.at / 1000) * 1000].join(' ');
}

const rowsOf = (scope: string, sums: ReadonlyMap<string, Volume>): KeyedRow[] =>
  [...sums].map(([key, { trades, hundredths, micros }]) => [
    `${scope} ${key}`,
    [trades, decimalText(BigInt(hundredths), HUNDREDTHS), decimalText(BigInt(micros), 6)].join(' '),
  ]);

function compareVwap(
  sums: ReadonlyMap<string, ReadonlyMap<string, Volume>>,
  recorded: RecordedAccounts,
  unlisted: Unlisted,
): Comparison {
  const differences = new Differences('VWAP');
  const found = new Map(recorded.vwaps.map(({ scope, market, vwap }) => [`${scope} ${market}`, vwap]));
  let expected = 0;
  let leftOut = 0;
  for (const [scope, markets] of sums) {
    for (const [market, { yesMicros, hundredths }] of markets) {
      if (scope === 'own' && unlisted.markets.has(market)) {
        leftOut += 1;
        continue;
      }
      expected += 1;
      const vwap = found.get(`${scope} ${market}`);
      const wanted = yesMicros / (hundredths * 10_000);
      if (vwap === undefined || vwap === null || Math.abs(vwap - wanted) > VWAP_TOLERANCE) {
        differences.add(`${scope} market ${market}: expected ${wanted}, found ${vwap ?? 'none'}`);
      }
    }
  }
  const why = `${leftOut} markets of own trades: ${CLOSED_BEFORE}, and which outcome was traded is unknown`;
  return differences.result(expected, recorded.vwaps.length - leftOut, leftOut === 0 ? undefined : why);
}
