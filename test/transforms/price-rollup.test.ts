import { afterEach, expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { useDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { priceRecord } from './support.js';
import { WorkerRig } from './worker-rig.js';

const host = useDatabase({ migrated: true });
let rig: WorkerRig | undefined;
const priceOf = (n: number) => (1 + (n % 97)) / 100;
afterEach(() => rig?.close());

it('a worker aggregates a block when all of its records are committed, also one of a former worker', async () => {
  rig = new WorkerRig(host.database.owner, host.database.name);
  const { append, rows } = { append: rig.append.bind(rig), rows: rig.rows.bind(rig) };
  await rig.prepare();
  const held = async () =>
    (
      await rows<{ block: number; held: number }>(
        'SELECT block, rollup_id != 0 AS held FROM price_blocks FINAL ORDER BY block',
      )
    ).map((row) => [row.block, row.held]);
  const { connection } = rig;
  const insert = connection.insert.bind(connection);
  const inserted: string[] = [];
  connection.insert = (block, options) => {
    inserted.push(block.table.name);
    return insert(block, options);
  };
  const first = await rig.worker();
  await append(
    TOPICS.orderBook,
    Array.from({ length: 65_536 }, (_, n) => priceRecord(1 + n, priceOf(n))),
  );
  await until(async () => JSON.stringify(await held()) === '[[0,1]]' || `blocks: ${JSON.stringify(await held())}`);
  await append(
    TOPICS.orderBook,
    Array.from({ length: 65_536 }, (_, n) => priceRecord(65_537 + n, priceOf(n))),
  );
  await rig.drained();
  await first.stop();
  await append(
    TOPICS.orderBook,
    Array.from({ length: 10 }, (_, n) => priceRecord(131_073 + n, priceOf(n))),
  );
  await rig.worker();
  await rig.drained();
  const expected = '[[0,1],[1,1],[2,0]]';
  await until(async () => JSON.stringify(await held()) === expected || `blocks: ${JSON.stringify(await held())}`);
  const [counts] = await rows(
    `SELECT (SELECT sum(ticks) FROM price_hours WHERE rollup_id IN (SELECT rollup_id FROM price_blocks FINAL)) AS held,
       (SELECT sum(ticks) FROM candles(period_seconds = 3600)) AS candles, (SELECT count() FROM price_ticks) AS ticks`,
  );
  expect(counts).toEqual({ held: 131_072, candles: 131_082, ticks: 131_082 });
  // Large batches told the materialized views what they change, small ones ran them.
  expect(inserted).toContain('price_ends');
  const [states] = await rows(
    `SELECT (SELECT groupArray((market, last, bid, ask, received_at)) FROM latest_ticks) =
         (SELECT groupArray((market, last, bid, ask, at)) FROM (SELECT market, argMax(last, _offset) AS last, any(bid) AS bid,
           any(ask) AS ask, max(received_at) AS at FROM price_ticks GROUP BY market)) AS latest,
       (SELECT min(first_received_at) FROM price_states) = (SELECT min(received_at) FROM price_ticks) AS first`,
  );
  expect(states).toEqual({ latest: 1, first: 1 });
});
