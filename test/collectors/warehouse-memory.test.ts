import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WarehouseMemory } from '../../collectors/account/warehouse-memory.js';
import { Connection, migrate } from '../../warehouse/index.js';
import { startClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { memoryLog } from './rig.js';

const never = new AbortController().signal;

describe('what the warehouse has of the accounts', () => {
  let clickhouse: TestClickHouse;
  const connect = () =>
    new Connection({ endpoint: clickhouse.endpoint.owner, database: 'chancery', application: 'test' });
  beforeAll(async () => {
    clickhouse = await startClickHouse();
    const connection = connect();
    await migrate(connection, { fsync: false }, never);
    await connection.close();
  }, 120_000);
  afterAll(() => clickhouse.stop());

  it('is what came with complete polls, per account and history, and the orders that are open', async () => {
    await clickhouse.run(`INSERT INTO chancery.polls (poll, operation, subject, outcome, finished_at) VALUES
      ('p1', 'trades', 'ann', 'complete', '2026-01-01 00:00:01'), ('p2', 'trades', 'ann', 'failed', '2026-01-01 00:00:02'),
      ('p3', 'trades', 'bob', 'complete', '2026-01-01 00:00:03'), ('p4', 'activity', 'activity', 'complete', '2026-01-01 00:00:04')`);
    await clickhouse.run(`INSERT INTO chancery.trade_records (account, trade_record, poll, executed_at, received_at) VALUES
      ('ann', 't1', 'p1', '2026-01-01 00:00:01', '2026-01-01 00:00:01'), ('ann', 't2', 'p1', '2026-01-01 00:00:02', '2026-01-01 00:00:01'),
      ('ann', 't3', 'p2', '2026-01-01 00:00:03', '2026-01-01 00:00:02'), ('bob', 't4', 'p3', '2026-01-01 00:00:04', '2026-01-01 00:00:03')`);
    await clickhouse.run(
      "INSERT INTO chancery.activity_records (trade_record, poll) VALUES ('a1', 'p4'), ('a2', 'p9')",
    );
    await clickhouse.run(`INSERT INTO chancery.order_records (account, \`order\`, market, status, received_at) VALUES
      ('ann', 'o1', 'm1', 'ACTIVE', '2026-01-01 00:00:01'), ('ann', 'o2', 'm1', 'ACTIVE', '2026-01-01 00:00:01'),
      ('ann', 'o2', 'm1', 'FILLED', '2026-01-01 00:00:02'), ('ann', 'o3', '', 'NOVEL', '2026-01-01 00:00:02')`);
    const memory = new WarehouseMemory(async () => connect(), memoryLog().log);
    expect(await memory.knownRecords('trades', 'ann', never)).toEqual(['t2', 't1']);
    expect(await memory.knownRecords('trades', 'bob', never)).toEqual(['t4']);
    expect(await memory.knownRecords('activity', undefined, never)).toEqual(['a1']);
    expect(await memory.knownRecords('transactions', 'ann', never)).toEqual([]);
    expect(await memory.knownRecords('orders', 'ann', never)).toEqual([]);
    const open = await memory.openOrders('ann', never);
    expect(open?.sort((a, b) => (a.order < b.order ? -1 : 1))).toEqual([
      { order: 'o1', market: 'm1', remaining: null },
      { order: 'o3', market: null, remaining: null },
    ]);
    await memory.close();
  });

  it('is unknown, with one line that says why, when it cannot be asked', async () => {
    const { log, lines } = memoryLog();
    const down = new WarehouseMemory(() => Promise.reject(new Error('no ClickHouse runs')), log);
    expect(await down.knownRecords('trades', 'ann', never)).toBeUndefined();
    expect(await down.openOrders('ann', never)).toBeUndefined();
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the warehouse cannot tell what it has of the accounts (no ClickHouse runs); ' +
        'their histories go on from where this collector was last',
    ]);
    await down.close();
    const none = new WarehouseMemory(undefined, log);
    expect(await none.knownRecords('trades', 'ann', never)).toBeUndefined();
    expect(lines).toHaveLength(1);
  });
});
