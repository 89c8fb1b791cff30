import fc from 'fast-check';
import type { Comparison } from '../../certify/comparison.js';
import { compareFigures } from '../../certify/figures/compare-figures.js';
import { timesOf } from '../../certify/figures/input.js';
import { type Figures, readFigures } from '../../certify/figures/questions.js';
import type { RecordedAccounts } from '../../certify/recorded.js';
import type { Ledger, LedgerPrice } from '../../certify/truth.js';
import type { Engine } from '../../exchange/engine/index.js';
import { MarketLookup } from '../../exchange/server/records/market-lookup.js';
import { activeOrder, openPosition, orderRecord, tradeRecord } from '../../exchange/server/records/order-records.js';
import { action, Playground } from '../exchange/engine-actions.js';
import { startEngine } from '../exchange/engine-rig.js';
import { ManualClock } from '../support/clocks.js';
import type { TestDatabase } from '../support/database.js';
import { polled, seen } from './account-data.js';
import { type Values, WarehouseData } from './warehouse-data.js';

/** After this time, a failing property is not shrunk any further, milliseconds. */
const MAX_MS = 240_000;
/** Time between two actions, and how long before now a session begins and trading is closed; microseconds. */
const STEP = 400_000;
const BEGAN = 480_000_000;
const CLOSED = 180_000_000;
/** When void markets are refunded: after the last action. */
const VOIDED = 200_000_000;

/** What four accounts do in two markets, and how much of it is received. */
const session = fc.record({
  actions: fc.array(action, { minLength: 40, maxLength: 160, size: 'max' }),
  takerFeeBps: fc.constantFrom(0, 20, 333),
  /** Time from a change of a price to its receipt, milliseconds. */
  latencyMs: fc.nat(3000),
  /** Every how many changes one is not received; 0: none. The last one of a market is received. */
  lostEvery: fc.constantFrom(0, 2, 5),
  /** The results with which the markets are resolved after that, as in the actions. */
  results: fc.array(fc.nat(11), { maxLength: 2 }),
  /** Whether the markets that are not resolved are void in the end. */
  isVoid: fc.boolean(),
});
type Session = typeof session extends fc.Arbitrary<infer T> ? T : never;

/** A ledger, and the rows that a collector would have made of what the exchange sent. */
interface Played {
  readonly ledger: Ledger;
  readonly names: ReadonlyMap<string, string>;
  readonly shown: ReadonlyMap<string, readonly { readonly receivedAt: number; readonly price: LedgerPrice }[]>;
  readonly rows: ReadonlyMap<string, readonly Values[]>;
}

const iso = (micros: number): string =>
  `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(Math.floor(micros) % 1000).padStart(3, '0')}`;

/**
 * Plays random sessions on the exchange's engine, stores what it sends, and compares every figure of the views with the one that
 * follows from the ledger. fast-check prints the seed and the smallest failing sessions.
 * @param only of the questions of `certify/figures/`
 */
export async function assertFigures(
  database: TestDatabase,
  only: readonly (keyof Figures)[],
  { sessions, ...parameters }: { readonly sessions: number; readonly numRuns: number; readonly seed?: number },
): Promise<void> {
  const lists = fc.array(session, { minLength: Math.ceil(sessions / 2), maxLength: sessions, size: 'max' });
  const compared = new Set<string>();
  await fc.assert(
    fc.asyncProperty(lists, async (list) => {
      for (const table of await tablesOf(database)) await database.run(`TRUNCATE TABLE ${table}`);
      // Whole seconds, so that the periods of a repeated run begin in the same way.
      const now = Math.floor(Date.now() / 10_000) * 10_000_000;
      const played = await Promise.all(list.map((one, i) => play(one, i + 1, now)));
      const data = new WarehouseData(database);
      // Pages first: a history is complete when rows up to the offset of its pages are stored.
      const rows = new Map<string, Values[]>([['account_pages', []]]);
      for (const one of played) {
        for (const [table, more] of one.rows) rows.set(table, [...(rows.get(table) ?? []), ...more]);
      }
      for (const [table, inserted] of rows) if (inserted.length > 0) await data.insert(table, inserted);
      const comparisons = (await compare(database, played, only, now)).filter(({ name }) =>
        only.some((one) => one === name),
      );
      for (const { name, expected } of comparisons) if (expected > 0) compared.add(name);
      const differences = comparisons.flatMap(({ name, examples }) => examples.map((example) => `${name}: ${example}`));
      if (differences.length > 0) throw new Error(differences.join('\n'));
    }),
    { interruptAfterTimeLimit: MAX_MS, ...parameters },
  );
  // Whether a market is resolved is by chance.
  const missing = only.filter((name) => !compared.has(name) && name !== 'times of resolutions');
  if (missing.length > 0) throw new Error(`nothing was compared: ${missing.join(', ')}`);
}

/** All that have rows, also those that materialized views fill. */
async function tablesOf(database: TestDatabase): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0 AND name != 'applied_sql'`,
  );
  return rows.map(({ name }) => name);
}

async function compare(
  database: TestDatabase,
  played: readonly Played[],
  only: readonly (keyof Figures)[],
  now: number,
): Promise<Comparison[]> {
  const all = <T>(of: (one: Played) => readonly T[]): T[] => played.flatMap(of);
  const ledger: Ledger = {
    accounts: all((one) => one.ledger.accounts),
    markets: all((one) => one.ledger.markets),
    fills: all((one) => one.ledger.fills),
    prices: all((one) => one.ledger.prices),
    identity: { deposits: 0, withdrawals: 0, free: 0, locked: 0, backing: 0, fees: 0 },
  };
  const names = new Map(all((one) => [...one.names]));
  const times = { recordedFrom: now - BEGAN, closedAt: now - CLOSED };
  const accounts: Pick<RecordedAccounts, 'names' | 'withTransactions' | 'listedMarkets'> = {
    names,
    withTransactions: new Set(names.values()),
    listedMarkets: new Set(ledger.markets.map(({ marketId }) => marketId)),
  };
  return compareFigures({
    ...{ ledger, ...times, faults: [], streams: { observed: [], gaps: [] }, chances: { changes: [], missed: [] } },
    accounts: accounts as RecordedAccounts,
    shown: new Map(all((one) => [...one.shown])),
    figures: await readFigures((sql) => database.rows(sql, 'reader'), timesOf(times), only),
  });
}

/** Plays one session on an engine of its own. */
async function play(one: Session, seed: number, now: number): Promise<Played> {
  const clock = new ManualClock(now - BEGAN);
  const engine = await startEngine({ seed, takerFeeBps: one.takerFeeBps }, clock);
  const playground = Playground.begin(engine, clock);
  for (const next of [...one.actions, ...one.results.map((what) => ({ kind: 'resolve' as const, what }))]) {
    playground.do(next);
    clock.micros += STEP;
  }
  const names = new Map(playground.users.map((user, i) => [user, `s${seed}-${'abcd'[i]}`]));
  const ledger = withVoids(
    { ...engine.truth(), prices: [...engine.pricesAfter(0)], fills: [...engine.fillsAfter(0)] },
    one.isVoid ? now - VOIDED : undefined,
  );
  const shown = shownOf(ledger, one, now);
  const rows = new Map<string, Values[]>();
  const add = (table: string, more: readonly Values[]) => rows.set(table, [...(rows.get(table) ?? []), ...more]);
  for (const row of marketRows(ledger, shown, one)) add(...row);
  for (const [user, name] of names) for (const row of accountRows(engine, ledger, { user, name, now })) add(...row);
  await engine.stop();
  return { ledger, names, shown, rows };
}

/** Of a void market each share was refunded with half a USDC; one of which nothing is held shows no refund. */
function withVoids(ledger: Ledger, voidedAt: number | undefined): Ledger {
  if (voidedAt === undefined) return ledger;
  const held = new Set(ledger.accounts.flatMap(({ positions }) => positions.map(({ assetId }) => assetId)));
  const markets = ledger.markets.map((market) =>
    market.resolved === null && held.has(market.assets.yes)
      ? { ...market, resolved: 'VOID' as const, voidedAt }
      : market,
  );
  const isVoid = new Set(
    markets.filter(({ resolved }) => resolved === 'VOID').flatMap(({ assets }) => [assets.yes, assets.no]),
  );
  const accounts = ledger.accounts.map((account) => {
    const refund = account.positions
      .filter(({ assetId }) => isVoid.has(assetId))
      .reduce((sum, { shares }) => sum + shares / 2, 0);
    return {
      ...account,
      usdc: Math.round((account.usdc + refund) * 1e6) / 1e6,
      positions: account.positions.filter(({ assetId }) => !isVoid.has(assetId)),
    };
  });
  return { ...ledger, markets, accounts };
}

/** The changes of prices that are received, and when. */
function shownOf({ prices }: Ledger, { latencyMs, lostEvery }: Session, now: number): Played['shown'] {
  const last = new Map(prices.map((price) => [price.marketId, price]));
  const shown = new Map<string, { receivedAt: number; price: LedgerPrice }[]>();
  for (const [i, price] of prices.entries()) {
    const isLost =
      lostEvery > 0 && i % lostEvery === 0 && last.get(price.marketId) !== price && price.c > 0 && price.c < 1;
    if (isLost) continue;
    const receivedAt = Math.min(Math.floor((price.at + latencyMs * 1000) / 1000) * 1000, now - CLOSED - 1000);
    shown.set(price.marketId, [...(shown.get(price.marketId) ?? []), { receivedAt, price }]);
  }
  return shown;
}

type TableRows = readonly [table: string, rows: readonly Values[]];

function marketRows({ markets, prices }: Ledger, shown: Played['shown'], { latencyMs }: Session): TableRows[] {
  const listed = iso((prices[0]?.at ?? 0) - 1_000_000);
  return [
    ['coin_observations', [{ coin: 'usdc', ticker: 'USDC', received_at: listed, poll_id: 'p' }]],
    [
      'market_observations',
      markets.map(({ marketId, eventId, assets }) => ({
        ...{ market: marketId, event: eventId, received_at: listed, poll_id: 'p' },
        ...{ yes_asset: assets.yes, no_asset: assets.no },
      })),
    ],
    [
      'price_ticks',
      [...shown.values()].flat().map(({ receivedAt, price: { eventId, marketId, c, b, a } }) => ({
        ...{ event: eventId, market: marketId, received_at: iso(receivedAt), last: c, source: 'delta' },
        ...{ bid: b === 0 ? null : b, ask: a === 1 ? null : a },
      })),
    ],
    [
      'chance_points',
      [
        ...markets.map(({ marketId, eventId, openingChance }) => ({
          ...{ event: eventId, market: marketId, chance: openingChance, source: 'last-known' },
          ...{ received_at: listed, occurred_at: listed.slice(0, 19) },
        })),
        ...prices.map(({ eventId, marketId, c, at }) => ({
          ...{ event: eventId, market: marketId, chance: c, source: 'change' },
          ...{ received_at: iso(at + latencyMs * 1000), occurred_at: iso(at).slice(0, 19) },
        })),
      ],
    ],
  ];
}

interface Owner {
  readonly user: string;
  readonly name: string;
  readonly now: number;
}

/** Histories, and the lists of complete polls after trading was closed. */
function accountRows(engine: Engine, ledger: Ledger, { user, name, now }: Owner): TableRows[] {
  const everything = { page: 0, size: 1e6 };
  const lookup = new MarketLookup(engine);
  const voided = new Map(
    ledger.markets.flatMap(({ resolved, voidedAt, assets }) =>
      resolved === 'VOID' && voidedAt !== undefined
        ? [assets.yes, assets.no].map((asset) => [asset, voidedAt] as const)
        : [],
    ),
  );
  const [listedAt, readAt] = [iso(now - CLOSED + 10_000_000), iso(now - CLOSED + 30_000_000)];
  const account = engine.account(user);
  const positions = (account?.positions ?? []).filter(({ assetId }) => !voided.has(assetId));
  const refunds = (account?.positions ?? []).filter(({ assetId }) => voided.has(assetId));
  // The engine does not know that a market is void: its orders would be cancelled.
  const active = engine.activeOrders(user).filter(({ assetId }) => !voided.has(assetId));
  const usdc = ledger.accounts.find(({ userId }) => userId === user)?.usdc ?? 0;
  const receipts: Values[] = [];
  const pages: Values[] = [];
  const listed = (operation: string, at: string, rows: readonly Values[]): Values[] => {
    const { poll, receipt, page } = polled(operation, name, at);
    receipts.push(receipt);
    pages.push({ ...page, items: rows.length });
    return rows.map((row) => ({ ...seen(name, at, poll), ...row }));
  };
  const decimal = (value: number) => String(Number(value.toFixed(6)));
  const trades = engine.trades(user, everything).items.map(tradeRecord);
  const transactions = engine.transactions(user, everything).items;
  const rows: TableRows[] = [
    [
      'trade_records',
      listed(
        'trades',
        readAt,
        trades.map((wire, n) => ({
          // The newest first; a page each.
          ...{ page: n, pass_began_at: readAt, trade_record_id: wire.i, trade_id: wire.t, side: wire.s },
          ...{ event: wire.e, market: wire.o, asset: wire.a, executed_at: String(wire.m).replace('Z', '') },
          ...{ quantity: decimal(Number(wire.q)), price: decimal(Number(wire.p)), fee: decimal(Number(wire.f)) },
        })),
      ),
    ],
    [
      'transaction_records',
      listed('transactions', readAt, [
        ...transactions.map(({ transactionId, type, assetId, amountMicros, at }) => ({
          ...{ transaction_id: transactionId, type, status: 'COMPLETED', amount: decimal(amountMicros / 1e6) },
          ...{ asset: type === 'PAYOUT' ? assetId : 'usdc', created_at: iso(Math.floor(at / 1000) * 1000) },
        })),
        ...refunds.map(({ assetId, shares }) => ({
          ...{ transaction_id: `refund ${user} ${assetId}`, type: 'PAYOUT', status: 'COMPLETED', asset: assetId },
          ...{ amount: decimal(shares / 200), created_at: iso(voided.get(assetId) ?? 0) },
        })),
      ]),
    ],
    [
      'position_observations',
      listed(
        'open-positions',
        listedAt,
        positions.map((position) => {
          const wire = openPosition(position, lookup, []);
          return {
            ...{ event: wire.ei, market: wire.eoi, asset: wire.ai, shares: String(wire.tsc), cost: String(wire.c) },
            ...{
              available_shares: String(wire.asc),
              entry_price: wire.sp,
              current_price: wire.cp,
              value: String(wire.v),
            },
            ...{ pnl: String(wire.pv), pnl_percent: wire.pp },
          };
        }),
      ),
    ],
    [
      'active_order_observations',
      listed(
        'active-orders',
        listedAt,
        active.map((order) => {
          const { id, status, side, price, quantity } = activeOrder(order);
          return { order_id: id, status, side, price: String(price), quantity: String(quantity) };
        }),
      ),
    ],
    [
      'order_records',
      active.map((order) => {
        const wire = orderRecord(order);
        return {
          ...{ ...seen(name, listedAt, 'orders'), order_id: wire.i, event: wire.e, market: wire.o, asset: wire.a },
          ...{
            side: wire.si,
            type: wire.t,
            status: wire.st,
            price: String(wire.p),
            original_quantity: String(wire.oq),
          },
          filled_quantity: String(wire.q),
        };
      }),
    ],
    [
      'balance_observations',
      listed('full-balances', listedAt, [
        { asset: 'usdc', balance: decimal(usdc), free: null },
        ...positions.map(({ assetId, shares, freeShares }) => ({
          ...{ asset: assetId, balance: decimal(shares / 100), free: decimal(freeShares / 100) },
        })),
      ]),
    ],
  ];
  return [...rows, ['polls', receipts], ['account_pages', pages]];
}
