import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangeClient } from '../../client/index.js';
import {
  act,
  type Place,
  placesOf,
  randomOf,
  type Trader,
  tradersOf,
  withdrawAll,
  writeAccounts,
} from './account-traders.js';
import { lines, OFTEN_POLLED, Rig, until } from './rig.js';

const ROUNDS = 160;

interface Truth {
  readonly accounts: readonly {
    readonly userId: string;
    readonly usdc: number;
    readonly positions: readonly { readonly assetId: string; readonly shares: number; readonly cost: number }[];
    readonly realisedPnl: number;
    readonly feesPaid: number;
  }[];
  readonly markets: readonly { readonly marketId: string; readonly volume: number; readonly trades: number }[];
}

interface TruthTrade {
  readonly tradeId: string;
  readonly marketId: string;
  readonly assetId: string;
  readonly price: number;
  readonly quantity: number;
  readonly takerFee: number;
  readonly taker: 'buyer' | 'seller';
  readonly buyer: string;
  readonly seller: string;
  readonly kind: 'transfer' | 'mint' | 'merge';
}

/**
 * Three recorded accounts trade with each other and with bots while polls and streams fail in every way that the
 * exchange can be told to; afterwards ClickHouse holds what its ledger holds, row by row.
 */
describe('the accounts in ClickHouse', { timeout: 120_000 }, () => {
  const rig = new Rig();
  let traders: Trader[] = [];
  let exchange: ExchangeClient;
  let truth: Truth;

  beforeAll(async () => {
    await rig.startExchange(['--seed', '9', '--events', '4', '--bots', '6', '--pace', '1', '--accounts', '3']);
    await rig.start('warehouse');
    await rig.start('transform');
    const file = join(rig.folder, 'accounts.json');
    writeAccounts(file, rig.exchange);
    await rig.start('collect', ['--accounts-file', file, '--requests-per-second', '200', ...OFTEN_POLLED]);
    ({ traders, exchange } = tradersOf(rig.exchange));
    const places = await placesOf(exchange);
    await trade(rig, traders, places);
    await resolve(rig, places);
    for (const trader of traders) await withdrawAll(trader);
    truth = await settled(rig, traders);
  }, 480_000);
  afterAll(async () => {
    await exchange?.close();
    await rig.close();
  }, 120_000);

  test('did everything that an account can do', async () => {
    const [did] = await rig.rows(`
      SELECT countIf(type = 'MARKET') > 0 AS market_orders, countIf(status = 'CANCELLED') > 0 AS cancelled,
        countIf(status = 'FILLED') > 0 AS filled FROM orders`);
    expect(did).toEqual({ market_orders: 1, cancelled: 1, filled: 1 });
    const types = await rig.rows('SELECT DISTINCT type FROM transactions ORDER BY type');
    expect(types).toEqual([{ type: 'DEPOSIT' }, { type: 'PAYOUT' }, { type: 'WITHDRAWAL' }]);
    expect(await rig.value<number>("SELECT count() FROM order_updates WHERE type = 'tpsl'")).toBeGreaterThan(0);
    expect(await rig.value<number>('SELECT count() FROM balance_updates')).toBeGreaterThan(0);
    const faulty = await rig.value<number>(
      `SELECT count() FROM raw_records WHERE _topic = 'chancery.account' AND JSONExtractUInt(request, 'status') IN (429, 500)`,
    );
    expect(faulty).toBeGreaterThan(0);
    // A fill between two of the accounts has two records and one trade ID.
    expect(
      await rig.value<number>('SELECT count() FROM (SELECT trade FROM trades GROUP BY trade HAVING count() = 2)'),
    ).toBeGreaterThan(0);
  });

  test('have every order as the exchange has it', async () => {
    for (const { name, account } of traders) {
      const ledger: string[] = [];
      for await (const { items } of account.walkOrders()) {
        for (const o of items)
          ledger.push(
            row(
              o.orderId,
              o.marketId,
              o.assetId,
              o.side,
              o.orderType,
              o.status,
              o.price,
              o.originalQuantity,
              o.filledQuantity,
              o.placedAtMicros,
            ),
          );
      }
      expect(ledger.length).toBeGreaterThan(20);
      const found = await texts(
        rig,
        `[order, market, asset, side, type, status, toString(price), toString(original_quantity), toString(filled_quantity), toString(toUnixTimestamp64Micro(placed_at))] FROM orders WHERE account = '${name}'`,
      );
      expect(found).toEqual(ledger.sort());
    }
  });

  test('have every trade as the exchange has it, and as its ledger tells it', async () => {
    const fills = lines<TruthTrade>(await rig.control('/truth/trades?after=0'));
    for (const { name, userId, account } of traders) {
      const ledger: string[] = [];
      for await (const { items } of account.walkTrades()) {
        for (const t of items)
          ledger.push(
            row(
              t.tradeRecordId,
              t.tradeId,
              t.orderId,
              t.side,
              t.eventId,
              t.marketId,
              t.assetId,
              t.quantity,
              t.price,
              t.fee,
              t.executedAtMicros,
            ),
          );
      }
      expect(ledger.length).toBeGreaterThan(20);
      const found = await texts(
        rig,
        `[trade_record, trade, order, side, event, market, asset, toString(quantity), toString(price), toString(fee), toString(toUnixTimestamp64Micro(executed_at))] FROM trades WHERE account = '${name}'`,
      );
      expect(found).toEqual(ledger.sort());
      const own = fills.filter(({ buyer, seller }) => buyer === userId || seller === userId);
      const told = await texts(rig, `[trade, toString(quantity), toString(fee)] FROM trades WHERE account = '${name}'`);
      expect(told).toEqual(own.map((fill) => row(fill.tradeId, fill.quantity, feeOf(fill, userId))).sort());
    }
  });

  test('have every transaction as the exchange has it', async () => {
    for (const { name, account } of traders) {
      const ledger: string[] = [];
      for await (const { items } of account.walkTransactions()) {
        for (const t of items)
          ledger.push(row(t.transactionId, t.assetId, t.transactionType, t.status, t.amount, t.createdAtMicros));
      }
      const found = await texts(
        rig,
        `[transaction, asset, type, status, toString(amount), toString(toUnixTimestamp64Micro(created_at))] FROM transactions WHERE account = '${name}'`,
      );
      expect(found).toEqual(ledger.sort());
    }
  });

  test('have the balances and positions that the exchange has now', async () => {
    for (const { name, userId, account } of traders) {
      const balances = (await account.balances()).items.map((b) => row(b.assetId, b.balance, b.free)).sort();
      expect(
        await texts(rig, `[asset, toString(balance), toString(free)] FROM balances WHERE account = '${name}'`),
      ).toEqual(balances);
      const positions = truthOf(truth, userId)
        .positions.map((p) => row(p.assetId, p.shares, p.cost))
        .sort();
      expect(
        await texts(rig, `[asset, toString(shares), toString(cost)] FROM positions WHERE account = '${name}'`),
      ).toEqual(positions);
      expect(await texts(rig, `[order] FROM active_orders WHERE account = '${name}'`)).toEqual([]);
    }
  });

  test('have their profit and loss as the ledger has it, to the last unit', async () => {
    for (const { name, userId } of traders) {
      const { positions, realisedPnl, feesPaid } = truthOf(truth, userId);
      const held = await texts(
        rig,
        `[asset, toString(shares), toString(cost)] FROM pnl_by_asset WHERE account = '${name}' AND shares != 0`,
      );
      expect(held).toEqual(positions.map((p) => row(p.assetId, p.shares, p.cost)).sort());
      const sums = await texts(
        rig,
        `[toString(realised_pnl), toString(fees), toString(unexplained)] FROM pnl_by_account WHERE account = '${name}'`,
      );
      expect(sums).toEqual([row(realisedPnl, feesPaid, 0)]);
      const payouts = await rig.rows(
        `SELECT DISTINCT payout_difference FROM pnl_by_asset WHERE account = '${name}' AND settlement = 'payout'`,
      );
      expect(payouts).toEqual([{ payout_difference: 0 }]);
    }
    expect(await rig.rows(`SELECT DISTINCT state FROM position_reconciliation`)).toEqual([{ state: 'equal' }]);
    // What one account won, others lost to it, to bots or to fees; what is settled is settled for all.
    expect(await rig.value<number>(`SELECT count() FROM pnl_by_asset WHERE settlement = 'inferred'`)).toBe(0);
  });

  test('have the volume of the ledger, own fills counted once', async () => {
    const ids = new Set(traders.map(({ userId }) => userId));
    const fills = lines<TruthTrade>(await rig.control('/truth/trades?after=0'));
    const own = fills.filter(({ buyer, seller }) => ids.has(buyer) || ids.has(seller));
    const [ours] = await rig.rows<{ trades: number; shares: string }>(
      `SELECT sum(volume_daily.trades) AS trades, toString(sum(volume_daily.shares)) AS shares FROM volume_daily WHERE scope = 'own'`,
    );
    const hundredths = own.reduce((sum, { quantity }) => sum + Math.round(quantity * 100), 0);
    expect(ours).toEqual({ trades: own.length, shares: String(hundredths / 100) });
  });
});

/** Trades for a while, with faults armed all the time. */
async function trade(rig: Rig, traders: readonly Trader[], places: readonly Place[]): Promise<void> {
  const random = randomOf(3);
  const kinds = ['http-429', 'http-500', 'http-reset', 'truncated-body', 'drop-connection'];
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 6 === 0) {
      const kind = kinds[(round / 6) % kinds.length] ?? '';
      const stream = kind !== 'drop-connection' ? 'rest' : round % 12 === 0 ? 'orders' : 'balance';
      await rig.arm({ kind, stream, count: stream === 'rest' ? 2 : 1 });
    }
    if (round % 40 === 20) {
      const userId = traders[(round / 20) % 3]?.userId ?? '';
      await rig.order(round % 80 === 20 ? '/deposits' : '/withdrawals', { userId, amount: 12.345678 });
    }
    await Promise.allSettled(traders.map((trader) => act(trader, places.slice(0, 3), random)));
  }
}

/** Resolves the first market, for which everybody who holds it is paid, unless it was resolved meanwhile. */
async function resolve(rig: Rig, places: readonly Place[]): Promise<void> {
  const [first] = places;
  if (!first) throw new Error('there is no market');
  await rig
    .order(`/events/${first.eventId}/resolve`, { marketId: first.marketId, winner: 'YES' })
    .catch((error: Error) => expect(error.message).toContain('resolved already'));
}

/** The ledger, once every account was polled, and its rows are here, after it last changed for one of them. */
async function settled(rig: Rig, traders: readonly Trader[]): Promise<Truth> {
  const truth = async () => JSON.parse(await rig.control('/truth')) as Truth;
  const own = ({ accounts }: Truth) => JSON.stringify(accounts.filter(isOneOf(traders)));
  for (let before = await truth(); ; ) {
    await recorded(rig, traders);
    const after = await truth();
    // Markets are resolved when it is their time.
    if (own(after) === own(before)) return after;
    before = after;
  }
}

/** Waits until everything of every account was polled from now on, and is in ClickHouse. */
async function recorded(rig: Rig, traders: readonly Trader[]): Promise<void> {
  const since = Date.now() * 1000;
  const names = traders.map(({ name }) => `'${name}'`).join(', ');
  await until(90_000, async () => {
    const missing = await rig.rows(`
      SELECT account, operation, maxIf(toUnixTimestamp64Micro(started_at), outcome = 'complete') AS latest FROM
      (SELECT subject AS account, * FROM polls WHERE subject IN (${names}))
      WHERE operation IN ('orders', 'trades', 'transactions', 'full-balances', 'open-positions', 'active-orders')
      GROUP BY account, operation HAVING latest <= ${since}`);
    return missing.length === 0 || `no complete poll yet: ${JSON.stringify(missing)}`;
  });
  await until(30_000, async () => {
    const polls = await rig.rows(`SELECT account, list FROM latest_account_polls
      WHERE list IN ('positions', 'balances', 'active-orders') AND toUnixTimestamp64Micro(started_at) > ${since}`);
    return polls.length === 3 * traders.length || `${polls.length} lists are here`;
  });
  await rig.drained();
}

const isOneOf =
  (traders: readonly Trader[]) =>
  ({ userId }: { readonly userId: string }): boolean =>
    traders.some((trader) => trader.userId === userId);

function truthOf(truth: Truth, userId: string): Truth['accounts'][number] {
  const account = truth.accounts.find((one) => one.userId === userId);
  if (!account) throw new Error(`the ledger has no account ${userId}`);
  return account;
}

/** The fee of one side of a fill: the taker pays it. */
function feeOf({ taker, buyer, takerFee }: TruthTrade, userId: string): number {
  return (taker === 'buyer') === (buyer === userId) ? takerFee : 0;
}

/** A row as one text; amounts of the ledger are doubles that print as the exact decimal. */
const row = (...values: readonly (string | number | null)[]): string => values.map((value) => value ?? '').join(' ');

/** The arrays of texts that a SELECT answers, each as one text, sorted. */
async function texts(rig: Rig, select: string): Promise<string[]> {
  const rows = await rig.rows<{ row: (string | null)[] }>(`SELECT ${select.replace(/\] FROM/, '] AS row FROM')}`);
  return rows.map(({ row: values }) => row(...values)).sort();
}
