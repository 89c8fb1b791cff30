import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Random, type RawRecord } from '../../core/index.js';
import { HttpError } from '../../exchange/server/errors.js';
import { tradeRecords } from '../../transforms/tables/trade-records.js';
import { recordsOfKind } from '../collectors/account-rig.js';
import { NEVER, startCollector } from '../collectors/rig.js';
import { startAccountMarket } from '../support/account-market.js';
import { StillClock } from '../support/clocks.js';
import { useDatabase } from '../support/database.js';
import { transformed } from '../transforms/support.js';
import { type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(() => {
  data = new WarehouseData(host.database);
});

const PAGE_SIZE = 7;
const FILLS = 120;
const ATTEMPTS = 5;
const SELDOM = { holdings: NEVER, transactions: NEVER, tpsl: NEVER, stats: NEVER, activity: NEVER, events: NEVER };
const SETTINGS = {
  ...Object.fromEntries(Object.entries(SELDOM).map(([group, pattern]) => [`${group}Schedule`, pattern])),
  tradesSchedule: '* * * * * *',
  requestsPerSecond: 1000,
};

interface Recorded {
  /** Pages of the account's trades, in the order of their receipt. */
  readonly pages: readonly RawRecord[];
  /** IDs of the fills, oldest first. */
  readonly fills: readonly string[];
  readonly incompleteWalks: number;
}

/**
 * Records an account whose trades all have the same time. Pages shift while walks read them, by up to `maxBurst` trades
 * between two requests, and some walks fail on the way.
 */
async function record(seed: number, maxBurst: number): Promise<Recorded> {
  const market = await startAccountMarket({ quirks: `max-page-size=${PAGE_SIZE}`, clock: new StillClock() });
  const { core } = market.exchange;
  const { ann } = market;
  market.fillInEngine(4 * PAGE_SIZE);
  const random = new Random(seed);
  const trades = core.trades.bind(core);
  let fillsLeft = FILLS;
  let failures = 0;
  let doneAt = Number.POSITIVE_INFINITY;
  const trade = (most: number) => {
    const count = Math.min(fillsLeft, random.integer(0, most));
    market.fillInEngine(count);
    fillsLeft -= count;
    if (fillsLeft === 0 && count > 0) doneAt = Date.now() * 1000;
  };
  vi.spyOn(core, 'trades').mockImplementation((userId, slice) => {
    if (failures > 0) {
      failures -= 1;
      throw new HttpError(503, 'this page cannot be read');
    }
    // Many new trades at the beginning of a pass, so that it has several pages.
    if (slice.page === 0) trade(4 * PAGE_SIZE);
    const answer = trades(userId, slice);
    if (random.integer(0, 1) === 0) trade(maxBurst);
    if (random.integer(0, 14) === 0 && fillsLeft > 0) failures = ATTEMPTS;
    return answer;
  });
  const rig = await startCollector(market.exchange.url, { settings: SETTINGS, accounts: [ann.credentials] });
  const polls = await rig.waitForEvents('poll', (found) =>
    found.some((poll) => poll.operation === 'trades' && poll.startedAt > doneAt && poll.outcome === 'complete'),
  );
  await rig.stop();
  return {
    pages: (await recordsOfKind(rig, 'account.trades')).filter(({ request }) => request['status'] === 200),
    fills: market.fills().map(({ tradeId }) => tradeId),
    incompleteWalks: polls.filter(({ operation, outcome }) => operation === 'trades' && outcome === 'failed').length,
  };
}

const timeText = (micros: number) =>
  `${new Date(micros / 1000).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}`;

/** The rows of `trade_records` that a page becomes. */
function rowsOf(page: RawRecord, offset: number, account: string): Values[] {
  const { receivedAt, request, body } = page;
  const output = transformed('account.trades', body, { receivedAt, request });
  return output.rowsOf(tradeRecords).map(({ answer, record: trade, passBeganAt }, index) => ({
    _offset: offset,
    _index: index,
    account,
    received_at: timeText(answer.receivedAt),
    poll_id: answer.pollId,
    page: answer.page,
    pass_began_at: timeText(passBeganAt),
    trade_record_id: trade.tradeRecordId,
    trade_id: trade.tradeId,
    executed_at: timeText(trade.executedAtMicros ?? 0),
    quantity: trade.quantity,
    price: trade.price,
  }));
}

const orderOf = async (account: string): Promise<unknown[]> =>
  (await data.ask(`SELECT trade_id FROM trades WHERE account = '${account}' ORDER BY trade_order`)).map(
    (row) => row['trade_id'],
  );

describe('trades of one moment, on pages that shift while they are read', () => {
  it.each([1, 2])('are in the order of the exchange after every page (seed %i)', async (seed) => {
    const { pages, fills, incompleteWalks } = await record(seed, PAGE_SIZE - 1);
    expect(incompleteWalks).toBeGreaterThan(0);
    const account = `shifted ${seed}`;
    const stored = new Set<unknown>();
    for (const [offset, page] of pages.entries()) {
      const rows = rowsOf(page, offset, account);
      await data.insert('trade_records', rows);
      for (const { trade_id: fill } of rows) stored.add(fill);
      expect(await orderOf(account)).toEqual(fills.filter((fill) => stored.has(fill)));
    }
    expect(stored.size).toBe(fills.length);
  });

  it.each([3, 4])(
    'are so after complete walks, also when more than a page is added at once (seed %i)',
    {
      timeout: 120_000,
    },
    async (seed) => {
      const { pages, fills } = await record(seed, 3 * PAGE_SIZE);
      const account = `jumped ${seed}`;
      await data.insert(
        'trade_records',
        pages.flatMap((page, offset) => rowsOf(page, offset, account)),
      );
      expect(await orderOf(account)).toEqual(fills);
    },
  );
});
