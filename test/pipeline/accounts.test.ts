import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sidesOf, type Volume, volumeBy } from '../../certify/fills.js';
import type { LedgerFill } from '../../certify/truth.js';
import type { ExchangeClient } from '../../client/index.js';
import { Random } from '../../core/index.js';
import type { TestExchangeProcessOptions } from '../support/exchange.js';
import { freePort } from '../support/free-ports.js';
import { until } from '../support/until.js';
import {
  act,
  type TradedMarket,
  type Trader,
  tradedMarketsOf,
  tradersOf,
  withdrawAll,
  writeAccounts,
} from './account-traders.js';
import { lines, OFTEN_POLLED, Rig } from './rig.js';

const ROUNDS = 160;
/** The last account again, without its login, so that its transactions are not recorded. */
const WITHOUT_LOGIN = 'cho-without-login';

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

/**
 * Three recorded accounts trade with each other and with bots while polls and streams fail in every way that the
 * exchange can be told to; afterwards ClickHouse holds what its ledger holds, row by row.
 */
describe('the accounts in ClickHouse', () => {
  const rig = new Rig();
  let traders: Trader[] = [];
  let exchange: ExchangeClient;
  let truth: Truth;
  /** Every fill, oldest first; read when trading has ended. */
  let fills: LedgerFill[];
  let yesAssets: ReadonlySet<string>;

  beforeAll(async () => {
    const world = { seed: 9, events: 4, bots: 6, port: await freePort() };
    await rig.startExchange(world);
    await rig.start('warehouse');
    await rig.start('transform');
    const file = join(rig.folder, 'accounts.json');
    writeAccounts(file, rig.exchange, WITHOUT_LOGIN);
    await rig.start('collect', ['--accounts-file', file, '--requests-per-second', '200', ...OFTEN_POLLED]);
    ({ traders, exchange } = tradersOf(rig.exchange));
    const positions = await tradedMarketsOf(exchange);
    await trade(rig, traders, positions);
    await resolve(rig, positions);
    for (const trader of traders) await withdrawAll(trader);
    await makeIdle(rig, world);
    truth = await stableTruth(rig, traders);
    fills = lines<LedgerFill>(await rig.control('/truth/trades?after=0'));
    const all = [...positions, ...(await tradedMarketsOf(exchange))];
    yesAssets = new Set(all.map(({ yes }) => yes.assetId));
  }, 480_000);
  afterAll(async () => {
    await exchange?.close();
    await rig.close();
  });

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
      await rig.value<number>('SELECT count() FROM (SELECT trade_id FROM trades GROUP BY trade_id HAVING count() = 2)'),
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
        `[order_id, market, asset, side, type, status, toString(price), toString(original_quantity), toString(filled_quantity), toString(toUnixTimestamp64Micro(placed_at))] FROM orders WHERE account = '${name}'`,
      );
      expect(found).toEqual(ledger.sort());
    }
  });

  test('have every trade as the exchange and its ledger have it', async () => {
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
        `[trade_record_id, trade_id, order_id, side, event, market, asset, toString(quantity), toString(price), toString(fee), toString(toUnixTimestamp64Micro(executed_at))] FROM trades WHERE account = '${name}'`,
      );
      expect(found).toEqual(ledger.sort());
      const own = fills.filter(({ buyer, seller }) => buyer === userId || seller === userId);
      const told = await texts(
        rig,
        `[trade_id, toString(quantity), toString(fee)] FROM trades WHERE account = '${name}'`,
      );
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
        `[transaction_id, asset, type, status, toString(amount), toString(toUnixTimestamp64Micro(created_at))] FROM transactions WHERE account = '${name}'`,
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
      expect(await texts(rig, `[order_id] FROM active_orders WHERE account = '${name}'`)).toEqual([]);
    }
  });

  test('have their profit and loss as the ledger has it, to the last unit, also where payouts are not seen', async () => {
    const last = { name: WITHOUT_LOGIN, userId: traders.at(-1)?.userId ?? '' };
    const all = [...traders, last].map(({ name, userId }) => ({ name, ...truthOf(truth, userId) }));
    const held = await texts(
      rig,
      '[account, asset, toString(shares), toString(cost)] FROM pnl_by_asset WHERE shares != 0',
    );
    expect(held).toEqual(
      all.flatMap(({ name, positions }) => positions.map((p) => row(name, p.assetId, p.shares, p.cost))).sort(),
    );
    const sums = await texts(
      rig,
      '[account, toString(realised_pnl), toString(fees), toString(unexplained)] FROM pnl_by_account',
    );
    expect(sums).toEqual(all.map(({ name, realisedPnl, feesPaid }) => row(name, realisedPnl, feesPaid, 0)).sort());
    const settlements = await texts(
      rig,
      "DISTINCT [account, settlement, toString(payout_difference)] FROM pnl_by_asset WHERE settlement != 'open'",
    );
    const settlementOf = (name: string) =>
      name === WITHOUT_LOGIN ? row(name, 'inferred', null) : row(name, 'payout', 0);
    expect(settlements).toEqual(all.map(({ name }) => settlementOf(name)).sort());
    // A list of positions from before the last trade is compared until a later one has been read completely.
    await until(async () => {
      const states = await rig.rows<{ state: string }>('SELECT DISTINCT state FROM position_reconciliation');
      return !states.some(({ state }) => state === 'newer' || state === 'unread') || JSON.stringify(states);
    });
    expect(await rig.rows(`SELECT DISTINCT state FROM position_reconciliation`)).toEqual([{ state: 'equal' }]);
  });

  test('have the balances that follow from their trades and transactions, where transactions are recorded', async () => {
    const states = () =>
      texts(rig, "DISTINCT [account, if(ticker = '', 'asset', ticker), state] FROM balance_reconciliation");
    await until(async () => {
      const found = await states();
      return !found.some((one) => /newer|unread/.test(one)) || JSON.stringify(found);
    });
    const last = truthOf(truth, traders.at(-1)?.userId ?? '');
    const all = [
      ...traders.map(({ name, userId }) => ({ name, ...truthOf(truth, userId) })),
      { ...last, name: WITHOUT_LOGIN },
    ];
    const wanted = all.flatMap(({ name, positions }) => [
      row(name, 'USDC', name === WITHOUT_LOGIN ? 'no transactions' : 'equal'),
      ...(positions.length > 0 ? [row(name, 'asset', 'equal')] : []),
    ]);
    expect(await states()).toEqual(wanted.sort());
    const money = await texts(
      rig,
      "[account, toString(balance)] FROM balance_reconciliation WHERE ticker = 'USDC' AND balance IS NOT NULL",
    );
    expect(money).toEqual(traders.map(({ name, userId }) => row(name, truthOf(truth, userId).usdc)).sort());
    // No order is open.
    const free = 'SELECT sum(abs(free_difference)) FROM balance_reconciliation';
    await until(
      async () => (await rig.value<number | null>(free)) === 0 || 'no polls of orders around one of balances',
    );
  });

  test('have the activity of all users as the exchange and its ledger have it', async () => {
    const told: string[] = [];
    const listed: string[] = [];
    for await (const { items } of traders[0]?.account.walkActivity() ?? []) {
      for (const a of items) {
        listed.push(
          row(
            a.tradeRecordId,
            a.userId,
            a.username,
            a.marketId,
            a.outcomeName,
            a.position,
            a.side,
            a.quantity,
            a.price,
            a.executedAtMicros,
            a.eventQuestion,
            a.eventSlug,
            a.tokenName,
            a.primary ? 'true' : 'false',
          ),
        );
        told.push(row(a.userId, a.marketId, a.position, a.side, a.quantity, a.price, a.executedAtMicros));
      }
    }
    // The feed has the newest first.
    const ledger = [...fills].reverse().map((fill) => {
      const { userId, outcome, side, cents } = sidesOf(fill, yesAssets).taker;
      // Its times are milliseconds.
      const atMicros = Math.floor(fill.at / 1000) * 1000;
      return row(userId, fill.marketId, outcome, side, fill.quantity, cents / 100, atMicros);
    });
    expect(ledger.length).toBeGreaterThan(100);
    expect(told).toEqual(ledger);
    const found = await texts(
      rig,
      '[trade_record_id, user_id, username, market, outcome_name, position, side, toString(quantity), toString(price), toString(toUnixTimestamp64Micro(executed_at)), event_question, event_slug, token_name, toString(is_primary)] FROM activity',
    );
    expect(found).toEqual(listed.sort());
  });

  test('have the volume of all users exactly as the ledger has it', async () => {
    const taker = (fill: LedgerFill) => sidesOf(fill, yesAssets).taker;
    const markets = volumeBy(fills, taker, ({ marketId }) => marketId);
    const kept = truth.markets.filter(({ trades }) => trades > 0);
    expect([...markets].map(([id, { trades, micros }]) => row(id, trades, micros / 1e6)).sort()).toEqual(
      kept.map(({ marketId, trades, volume }) => row(marketId, trades, volume)).sort(),
    );
    expect(await volumes('all', 'market')).toEqual(rowsOf(markets));
    expect(await volumes('all', 'event')).toEqual(rowsOf(volumeBy(fills, taker, ({ eventId }) => eventId)));
    expect(await volumes('all', 'day')).toEqual(rowsOf(volumeBy(fills, taker, dayOf)));
    const averages = await rig.rows<{ market: string; vwap: number }>(
      `SELECT market, vwap FROM volume_by_market WHERE scope = 'all'`,
    );
    for (const { market, vwap } of averages) {
      const { yesMicros, hundredths } = markets.get(market) ?? fail();
      expect(Math.abs(vwap - yesMicros / hundredths / 10_000)).toBeLessThan(1e-12);
    }
  });

  test('have the volume of their own trades as the ledger has it, fills between two of them counted once', async () => {
    const ids = new Set(traders.map(({ userId }) => userId));
    const own = fills.filter(({ buyer, seller }) => ids.has(buyer) || ids.has(seller));
    expect(own.length).toBeLessThan(fills.length);
    expect(own.some(({ buyer, seller }) => ids.has(buyer) && ids.has(seller))).toBe(true);
    const side = (fill: LedgerFill) => {
      const { taker, maker } = sidesOf(fill, yesAssets);
      return ids.has(taker.userId) ? taker : maker;
    };
    expect(await volumes('own', 'market')).toEqual(rowsOf(volumeBy(own, side, ({ marketId }) => marketId)));
    expect(await volumes('own', 'event')).toEqual(rowsOf(volumeBy(own, side, ({ eventId }) => eventId)));
    expect(await volumes('own', 'day')).toEqual(rowsOf(volumeBy(own, side, dayOf)));
  });

  /** The rows of a volume view, as `rowsOf` words them. */
  async function volumes(scope: string, by: 'market' | 'event' | 'day'): Promise<string[]> {
    const select = '[toString(KEY), toString(trades), toString(shares), toString(volume)]'.replace('KEY', by);
    return texts(rig, `${select} FROM volume_by_${by} WHERE scope = '${scope}'`);
  }
});

function fail(): never {
  throw new Error('what the test needs is not there');
}

const dayOf = ({ at }: LedgerFill): string => new Date(at / 1000).toISOString().slice(0, 10);

/** Sums as the views of volume have them: key, fills, shares, USDC. */
const rowsOf = (sums: ReadonlyMap<string, Volume>): string[] =>
  [...sums].map(([key, { trades, hundredths, micros }]) => row(key, trades, hundredths / 100, micros / 1e6)).sort();

/** Trades for a while, with faults armed all the time. */
async function trade(rig: Rig, traders: readonly Trader[], positions: readonly TradedMarket[]): Promise<void> {
  const random = new Random(3);
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
    await Promise.allSettled(traders.map((trader) => act(trader, positions.slice(0, 3), random)));
  }
}

/** Resolves the first market, which pays all holders, unless it was resolved meanwhile. */
async function resolve(rig: Rig, positions: readonly TradedMarket[]): Promise<void> {
  const [first] = positions;
  if (!first) throw new Error('there is no market');
  await rig
    .order(`/events/${first.eventId}/resolve`, { marketId: first.marketId, winner: 'YES' })
    .catch((error: Error) => expect(error.message).toContain('resolved already'));
}

/**
 * Starts the exchange again, without bots and without ends of events: from now on only the accounts can place orders, and
 * no market is resolved.
 */
async function makeIdle(rig: Rig, world: TestExchangeProcessOptions): Promise<void> {
  await rig.service('exchange').stop();
  await rig.startExchange({ ...world, pace: 0 });
}

/** The ledger, once every account was polled, and its rows are here, after it last changed for one of them. */
async function stableTruth(rig: Rig, traders: readonly Trader[]): Promise<Truth> {
  const truth = async () => JSON.parse(await rig.control('/truth')) as Truth;
  const own = ({ accounts }: Truth) => JSON.stringify(accounts.filter(isOneOf(traders)));
  for (let before = await truth(); ; ) {
    await recorded(rig, traders);
    const after = await truth();
    if (own(after) === own(before)) return after;
    before = after;
  }
}

/** Waits until everything of every account was polled from now on, and is in ClickHouse. */
async function recorded(rig: Rig, traders: readonly Trader[]): Promise<void> {
  const since = Date.now() * 1000;
  const names = [...traders.map(({ name }) => name), WITHOUT_LOGIN].map((name) => `'${name}'`).join(', ');
  await until(async () => {
    const missing = await rig.rows(`
      SELECT account, operation, maxIf(toUnixTimestamp64Micro(started_at), outcome = 'complete') AS latest FROM
      (SELECT subject AS account, * FROM polls WHERE subject IN (${names}, 'activity'))
      WHERE operation IN ('orders', 'trades', 'transactions', 'full-balances', 'open-positions', 'active-orders', 'activity')
      GROUP BY account, operation HAVING latest <= ${since}`);
    return missing.length === 0 || `no complete poll yet: ${JSON.stringify(missing)}`;
  });
  await until(async () => {
    const polls = await rig.rows(`SELECT account, list FROM latest_account_polls
      WHERE list IN ('positions', 'balances', 'active-orders') AND toUnixTimestamp64Micro(started_at) > ${since}`);
    return polls.length === 3 * (traders.length + 1) || `${polls.length} lists are here`;
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
function feeOf({ taker, buyer, takerFee }: LedgerFill, userId: string): number {
  return (taker === 'buyer') === (buyer === userId) ? takerFee : 0;
}

/** A row as one text; amounts of the ledger are doubles that print as the exact decimal. */
const row = (...values: readonly (string | number | null)[]): string => values.map((value) => value ?? '').join(' ');

/** The arrays of texts that a SELECT answers, each as one text, sorted. */
async function texts(rig: Rig, select: string): Promise<string[]> {
  const rows = await rig.rows<{ row: (string | null)[] }>(`SELECT ${select.replace(/\] FROM/, '] AS row FROM')}`);
  return rows.map(({ row: values }) => row(...values)).sort();
}
