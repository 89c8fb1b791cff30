import { afterEach, describe, expect, it } from 'vitest';
import { type TableContent, tableContents } from '../../chaos/table-contents.js';
import { until } from '../../support/until.js';
import { ClusterRig } from './cluster-rig.js';
import { MarketRecords } from './market-records.js';

const NOW = Math.floor(Date.now() / 1000);

let rig: ClusterRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

/** The contents of the tables of each shard. */
const contentsOf = (it: ClusterRig): Promise<TableContent[][]> =>
  Promise.all(
    it.servers.servers.map((server) =>
      server.rows<TableContent>(`SELECT * FROM (${tableContents('chancery_shard')}) ORDER BY table`),
    ),
  );

const rowsOf = (contents: readonly TableContent[][]): number =>
  contents.flat().reduce((sum, { rows }) => sum + rows, 0);

describe('a cluster of which one shard was replaced', () => {
  it('is refused, and --rebuild writes what was on that shard again, once', async () => {
    rig = await ClusterRig.start(2);
    const it = rig;
    const first = await it.cluster();
    const data = new MarketRecords(9, it.bus, 6);
    await data.append(NOW - 7200, NOW - 300);
    await it.worker(first.shards);
    await it.drained();
    await data.more('second', NOW - 200, 100);
    await it.drained();
    await it.stopWorkers();
    const before = await contentsOf(it);
    expect(before.map((shard) => shard.find(({ table }) => table === 'price_ticks')?.rows)).not.toContain(0);

    const [, second] = it.servers.servers;
    for (const database of ['chancery', 'chancery_shard']) await second?.run(`DROP DATABASE ${database} SYNC`);
    const { shards } = await it.cluster();
    const refused = await it.worker(shards);
    await expect(refused.failed).rejects.toThrow(
      new RegExp(`database chancery_shard at ${second?.endpoint.url} is not the one .*--rebuild.*--accept-loss`),
    );
    await it.stopWorkers();

    await it.worker(shards, { rebuild: true, batchRows: 200 });
    await until(async () => {
      const now = rowsOf(await contentsOf(it));
      return now >= rowsOf(before) || `${now} of ${rowsOf(before)} rows`;
    });
    await it.drained();
    await it.stopWorkers();
    const after = await contentsOf(it);
    expect(after).toEqual(before);
    expect(after.flat().filter(({ rows, keys }) => rows !== keys)).toEqual([]);

    // Every worker continues, with the option or without it, and copies nothing twice.
    await data.more('second', NOW - 100, 40);
    await it.worker(shards, { rebuild: true });
    await it.drained();
    const grown = await contentsOf(it);
    expect(rowsOf(grown)).toBeGreaterThan(rowsOf(after));
    expect(grown.flat().filter(({ rows, keys }) => rows !== keys)).toEqual([]);
    for (const sql of ['SELECT * FROM chancery.events ORDER BY event', 'SELECT * FROM chancery.sessions ORDER BY 1']) {
      const [one, two] = await Promise.all(it.servers.servers.map((server) => server.rows(sql)));
      expect(two).toEqual(one);
      expect(one?.length).toBeGreaterThan(0);
    }
  });
});
