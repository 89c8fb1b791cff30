import { groupBy } from '../../core/index.js';
import { CENTS, decimalText, HUNDREDTHS, MICROS, microsText, unitsOf } from '../amounts.js';
import { type Comparison, compareRows, Differences, type KeyedRow, notCompared } from '../comparison.js';
import { type FillSide, fifoCosts, sidesOf } from '../fills.js';
import type { RecordedAccounts, TextRow } from '../recorded.js';
import type { Ledger, LedgerAccount, LedgerFill } from '../truth.js';
import { compareListed, unlistedOf } from '../unlisted.js';

/** The recorded accounts, as the ledger has them. */
export interface AccountInput {
  readonly ledger: Ledger;
  readonly recorded: RecordedAccounts;
}

/** One side of a fill of a recorded account. */
interface OwnTrade {
  readonly account: string;
  readonly key: string;
  readonly value: string;
}

const keyOf = ({ key }: TextRow): string => key.join(' ');
const keyed = (rows: readonly TextRow[]): KeyedRow[] => rows.map((row) => [keyOf(row), row.value.join(' ')]);
const quantityText = (quantity: number): string => decimalText(unitsOf(quantity, HUNDREDTHS), HUNDREDTHS);
/** The exchange sends whole milliseconds. */
const millisecond = (micros: number): number => Math.floor(micros / 1000) * 1000;
const centsText = (cents: number): string => decimalText(BigInt(cents), CENTS);

/** Trades, balances, positions, profit and loss and settlements of each recorded account. */
export function compareAccounts({ ledger, recorded }: AccountInput): Comparison[] {
  const accounts = ledger.accounts.filter(({ userId }) => recorded.names.has(userId));
  if (accounts.length === 0) return ACCOUNT_COMPARISONS.map((name) => notCompared(name, 'no account is recorded'));
  const nameOf = ({ userId }: { readonly userId: string }): string => recorded.names.get(userId) ?? '';
  const known = new Set(accounts.map(nameOf));
  const own = (rows: readonly TextRow[]) => keyed(rows.filter(({ key }) => known.has(key[0] ?? '')));
  const unlisted = unlistedOf(ledger, recorded);
  const traders = new Set(
    ledger.fills
      .filter(({ marketId }) => unlisted.markets.has(marketId))
      .flatMap(({ buyer, seller }) => [recorded.names.get(buyer) ?? '', recorded.names.get(seller) ?? '']),
  );
  /** Whether a settlement that only event search, or a payout, shows is unknown of an account. */
  const lacksPayouts = (account: string) => !recorded.withTransactions.has(account);
  /** @param key of a row: an account and an asset */
  const isUnknown = (key: string) => {
    const [account = '', asset = ''] = key.split(' ');
    return lacksPayouts(account) && unlisted.assets.has(asset);
  };
  return [
    compareTrades(ledger, recorded),
    compareRows('balances', balanceRows(accounts, nameOf), own(withoutFreeShares(recorded.balances))),
    compareRows('positions', positionRows(accounts, nameOf), own(recorded.positions)),
    compareListed(
      'cost of holdings',
      holdingRows(ledger, accounts, nameOf),
      own(recorded.pnlByAsset),
      isUnknown,
      `assets ${PAYOUT_UNKNOWN}`,
    ),
    compareListed(
      'profit and loss',
      pnlRows(ledger, accounts, nameOf),
      own(recorded.pnlByAccount),
      (account) => lacksPayouts(account) && traders.has(account),
      `accounts with assets ${PAYOUT_UNKNOWN}`,
    ),
    compareListed(
      'settlements',
      settlementRows(ledger, recorded),
      own(recorded.settlements),
      isUnknown,
      `assets ${PAYOUT_UNKNOWN}`,
    ),
  ];
}

const PAYOUT_UNKNOWN =
  'whose events closed before recording began: whether they paid out is in transactions alone, which are not recorded';

const ACCOUNT_COMPARISONS = [
  'trades of accounts',
  'balances',
  'positions',
  'cost of holdings',
  'profit and loss',
  'settlements',
];

/** Every trade, and for each account the order of its trades, on which the cost of its positions depends. */
function compareTrades(ledger: Ledger, recorded: RecordedAccounts): Comparison {
  const expected = ownTrades(ledger, recorded.names);
  const found = recorded.trades;
  const rows = compareRows(
    'trades of accounts',
    expected.map(({ key, value }) => [key, value]),
    keyed(found),
  );
  if (rows.unexplained > 0) return rows;
  const differences = new Differences(rows.name);
  const wanted = groupBy(expected, ({ account }) => account);
  const here = groupBy(found, ({ key }) => key[0] ?? '');
  for (const [account, trades] of wanted) {
    for (const [i, row] of (here.get(account) ?? []).entries()) {
      const key = trades[i]?.key;
      if (keyOf(row) !== key) differences.add(`trade ${i + 1} of ${account}: expected ${key}, found ${keyOf(row)}`);
    }
  }
  return differences.result(rows.expected, rows.found);
}

/** Both sides of each fill that a recorded account has, in the order of the ledger. */
function ownTrades({ fills, markets }: Ledger, names: ReadonlyMap<string, string>): OwnTrade[] {
  const assets = new Map(markets.map((market) => [market.marketId, market.assets]));
  const yesAssets = new Set(markets.map((market) => market.assets.yes));
  return fills.flatMap((fill) => {
    const { taker, maker } = sidesOf(fill, yesAssets);
    const fee = microsText(fill.takerFee);
    return [tradeOf(fill, taker, fee), tradeOf(fill, maker, '0')].flatMap((trade) => trade ?? []);
  });

  function tradeOf(fill: LedgerFill, side: FillSide, fee: string): OwnTrade | undefined {
    const account = names.get(side.userId);
    if (account === undefined) return undefined;
    const own = assets.get(fill.marketId);
    const asset = side.outcome === 'YES' ? own?.yes : own?.no;
    return {
      account,
      key: `${account} ${fill.tradeId} ${asset}`,
      value: [side.side, quantityText(fill.quantity), centsText(side.cents), fee, millisecond(fill.at)].join(' '),
    };
  }
}

type NameOf = (account: { readonly userId: string }) => string;

/** USDC with what is free of it; shares in total, as the ledger does not say how many of them are locked. */
function balanceRows(accounts: readonly LedgerAccount[], nameOf: NameOf): KeyedRow[] {
  return accounts.flatMap((account) => [
    [`${nameOf(account)} USDC`, `${microsText(account.usdc)} ${freeText(account)}`] as const,
    ...account.positions.map(({ assetId, shares }) => [`${nameOf(account)} ${assetId}`, quantityText(shares)] as const),
  ]);
}

const freeText = ({ usdc, locked }: LedgerAccount): string =>
  decimalText(unitsOf(usdc, MICROS) - unitsOf(locked, MICROS), MICROS);

/** The same of the recorded rows; the exchange lists assets without shares too. */
const withoutFreeShares = (rows: readonly TextRow[]): TextRow[] =>
  rows.flatMap(({ key, value }) => {
    if (key[1] === 'USDC') return [{ key, value }];
    return value[0] === '0' ? [] : [{ key, value: value.slice(0, 1) }];
  });

const positionRows = (accounts: readonly LedgerAccount[], nameOf: NameOf): KeyedRow[] =>
  accounts.flatMap((account) =>
    account.positions.map(
      ({ assetId, shares, cost }) =>
        [`${nameOf(account)} ${assetId}`, `${quantityText(shares)} ${microsText(cost)}`] as const,
    ),
  );

/** The same, and the cost when the oldest shares are sold first. */
function holdingRows({ fills, markets }: Ledger, accounts: readonly LedgerAccount[], nameOf: NameOf): KeyedRow[] {
  const costs = fifoCosts(fills, new Set(markets.map(({ assets }) => assets.yes)));
  const heldAs = new Map(
    markets.flatMap(({ marketId, assets }) => [
      [assets.yes, `${marketId} YES`],
      [assets.no, `${marketId} NO`],
    ]),
  );
  return accounts.flatMap((account) =>
    account.positions.map(({ assetId, shares, cost }) => {
      const fifoCost = decimalText(costs.get(`${account.userId} ${heldAs.get(assetId)}`) ?? 0n, MICROS);
      return [`${nameOf(account)} ${assetId}`, `${quantityText(shares)} ${microsText(cost)} ${fifoCost}`] as const;
    }),
  );
}

/** Realised profit, fees, cost and unrealised profit of the accounts that traded; nothing unexplained. */
function pnlRows(ledger: Ledger, accounts: readonly LedgerAccount[], nameOf: NameOf): KeyedRow[] {
  const prices = assetCents(ledger);
  const traded = new Set(ledger.fills.flatMap(({ buyer, seller }) => [buyer, seller]));
  return accounts
    .filter(({ userId }) => traded.has(userId))
    .map((account) => {
      let cost = 0n;
      let value = 0n;
      for (const position of account.positions) {
        cost += unitsOf(position.cost, MICROS);
        // Hundredths of shares × cents are ten-thousandths of USDC.
        value += unitsOf(position.shares, HUNDREDTHS) * (prices.get(position.assetId) ?? 0n) * 100n;
      }
      const texts = [
        microsText(account.realisedPnl),
        microsText(account.feesPaid),
        decimalText(cost, MICROS),
        decimalText(value - cost, MICROS),
        '0',
      ];
      return [nameOf(account), texts.join(' ')] as const;
    });
}

/** The price of each asset at the market's last price. */
function assetCents({ markets, prices }: Ledger): Map<string, bigint> {
  const chances = new Map(markets.map(({ marketId, openingChance }) => [marketId, openingChance]));
  for (const { marketId, c } of prices) chances.set(marketId, c);
  return new Map(
    markets.flatMap(({ marketId, assets }) => {
      const cents = unitsOf(chances.get(marketId) ?? 0, CENTS);
      return [[assets.yes, cents] as const, [assets.no, 100n - cents] as const];
    }),
  );
}

/** @param shares hundredths */
function usdcPaid(shares: bigint, resolved: 'YES' | 'NO' | 'VOID', outcome: 'YES' | 'NO'): string {
  if (resolved === 'VOID') return decimalText(shares * 5n, HUNDREDTHS + 1);
  return outcome === resolved ? decimalText(shares, HUNDREDTHS) : '0';
}

/** What each recorded account was paid for the shares it held of a resolved market. */
function settlementRows(ledger: Ledger, { names }: RecordedAccounts): KeyedRow[] {
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const held = new Map<string, bigint>();
  for (const fill of ledger.fills) {
    for (const side of Object.values(sidesOf(fill, yesAssets))) {
      const key = `${side.userId} ${fill.marketId} ${side.outcome}`;
      const quantity = unitsOf(fill.quantity, HUNDREDTHS);
      held.set(key, (held.get(key) ?? 0n) + (side.side === 'BUY' ? quantity : -quantity));
    }
  }
  return ledger.markets.flatMap(({ marketId, assets, resolved }) => {
    if (resolved === null) return [];
    return [...names].flatMap(([userId, name]) =>
      (['YES', 'NO'] as const).flatMap((outcome) => {
        const shares = held.get(`${userId} ${marketId} ${outcome}`) ?? 0n;
        if (shares === 0n) return [];
        const paid = usdcPaid(shares, resolved, outcome);
        return [[`${name} ${outcome === 'YES' ? assets.yes : assets.no}`, paid] as const];
      }),
    );
  });
}
