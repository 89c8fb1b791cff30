import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { partitionOf } from '../../../bus/key-hash.js';
import { Secret, TOPICS } from '../../../core/index.js';
import { TRANSFORM_VERSION } from '../../../transforms/index.js';
import { openCluster } from '../../../warehouse/index.js';
import { startFaultProxy } from '../../support/fault-proxy.js';
import { until } from '../../support/until.js';
import { priceRecord } from '../../transforms/support.js';
import { ClusterRig } from './cluster-rig.js';
import { MarketRecords } from './market-records.js';

let rig: ClusterRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

async function newRig(shards = 2): Promise<ClusterRig> {
  rig = await ClusterRig.start(shards);
  return rig;
}

const NOW = Math.floor(Date.now() / 1000);
const LOG_TABLES = `SELECT name FROM system.tables WHERE database = 'chancery_shard' AND engine = 'MergeTree'
  AND name NOT IN ('cluster_layouts', 'database_identity', 'price_hours', 'price_days', 'volume_days')`;
const SMALL = ['collector_events', 'polls', 'event_observations', 'market_observations', 'category_observations'];

/** Rows of a table on one server, and their distinct positions. */
async function count(it: ClusterRig, server: number, table: string): Promise<{ rows: number; positions: number }> {
  const [found] =
    (await it.servers.servers[server]?.rows<{ rows: number; positions: number }>(
      `SELECT count() AS rows, uniqExact(_log, _partition, _offset, _index) AS positions FROM chancery_shard.${table}`,
    )) ?? [];
  if (!found) throw new Error(`no answer of server ${server}`);
  return found;
}

async function records(it: ClusterRig, topic?: string): Promise<number> {
  const partitions = await it.bus.partitions();
  return partitions.filter((p) => topic === undefined || p.topic === topic).reduce((sum, p) => sum + p.end, 0);
}

/** Every table of every server has each position once, small tables the same on both. */
async function expectEachOnce(it: ClusterRig): Promise<void> {
  const tables = (await it.servers.servers[0]?.rows<{ name: string }>(LOG_TABLES)) ?? [];
  for (const { name } of tables) {
    const [first, second] = [await count(it, 0, name), await count(it, 1, name)];
    expect([name, first.rows, second.rows]).toEqual([name, first.positions, second.positions]);
    if (SMALL.includes(name)) expect([name, first.rows]).toEqual([name, second.rows]);
  }
}

describe('a cluster whose shards are killed', () => {
  it('stores every record once when any shard is killed during any batch', async () => {
    const it = await newRig();
    const cluster = await it.cluster();
    const data = new MarketRecords(7, it.bus, 6);
    await data.append(NOW - 3 * 3600, NOW - 300);
    await it.worker(cluster.shards, { batchRows: 60 });
    const drained = it.drained();
    let over = false;
    void drained.then(() => {
      over = true;
    });
    for (let round = 0; round < 6 && !over; round++) {
      const server = it.servers.servers[round % 2];
      await new Promise((resolve) => setTimeout(resolve, 150 + 100 * (round % 3)));
      if (!server) throw new Error('no server');
      await until(() => server.server.health.ready);
      process.kill(server.endpoint.pid, 'SIGKILL');
      await data.more('second', NOW - 200 + round, 40);
    }
    await drained;
    await it.drained();
    const raw = (await count(it, 0, 'raw_records')).rows + (await count(it, 1, 'raw_records')).rows;
    expect(raw).toBe(await records(it));
    await expectEachOnce(it);
    for (const { rows } of it.servers.servers) {
      const [states] = await rows<{ differ: number }>(
        `SELECT count() AS differ FROM (SELECT event, max(last_seen_at) AS seen FROM chancery_shard.event_states GROUP BY event) AS s
         FULL JOIN (SELECT event, max(received_at) AS seen FROM chancery_shard.event_observations GROUP BY event) AS o USING (event)
         WHERE s.seen != o.seen`,
      );
      expect(states?.differ).toBe(0);
    }
  });

  it('continues with the other partitions while one shard is down, reports which, and catches up', async () => {
    const it = await newRig();
    await it.cluster();
    const down = { shard: false };
    const second = it.servers.servers[1]?.endpoint.owner;
    const first = it.servers.servers[0]?.endpoint.owner;
    if (!first || !second) throw new Error('two servers run');
    const proxy = await startFaultProxy(
      () => second.url,
      () => (down.shard ? 'bad-gateway' : undefined),
      () => 0,
    );
    const login = { user: 'owner', password: new Secret(first.password.reveal()) };
    const nodes = [[first.url], [proxy.url]];
    const cluster = openCluster({ name: 'chancery', nodes, login, database: 'chancery', application: 'test' });
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const data = new MarketRecords(3, it.bus, 6);
    const onFirst = (topic: string, partition: number) => topic === TOPICS.orderBook && partition % 2 === 0;
    const before = await it.worker(cluster.shards, { log });
    await data.append(NOW - 7200, NOW - 3600);
    await it.drained();

    down.shard = true;
    await data.more('second', NOW - 3000, 200);
    await it.drained(undefined, onFirst);
    await until(async () => !before.health().ok);
    // An insert or a question before it, whichever comes first.
    expect(lines).toContainEqual(expect.stringContaining(`ClickHouse accepts no rows: ClickHouse at ${proxy.url} `));

    // A worker that starts meanwhile takes over the partitions of the other shard.
    await it.stopWorkers();
    await data.more('second', NOW - 2000, 200);
    const after = await it.worker(cluster.shards, { log });
    await it.drained(undefined, onFirst);
    // Each partition detects by itself that its shard is down.
    await until(async () => !after.health().ok);
    expect(after.health()).toMatchObject({ ok: false, detail: { cause: expect.stringContaining(proxy.url) } });

    down.shard = false;
    await it.drained();
    // Partitions without rows to write check again at their own times.
    await until(async () => after.health().ok);
    // Not always last: a partition may have a batch to complete.
    expect(lines).toContain('ClickHouse accepts rows again');
    const raw = (await count(it, 0, 'raw_records')).rows + (await count(it, 1, 'raw_records')).rows;
    expect(raw).toBe(await records(it));
    await expectEachOnce(it);
    await it.stopWorkers();
    await cluster.close();
    await proxy.close();
  });
});

describe('a cluster that grows', () => {
  it('finishes a batch on the shard where it was begun, and copies the tables of every shard to the new one', async () => {
    const it = await newRig();
    const one = await it.cluster(1);
    const data = new MarketRecords(5, it.bus, 6);
    await data.append(NOW - 7200, NOW - 300);
    await it.worker(one.shards);
    await it.drained();
    await it.stopWorkers();
    const [old] = it.servers.servers;
    const partition = (await it.bus.partitions()).find(
      (p) => p.topic === TOPICS.orderBook && p.partition % 2 === 1 && p.end > 0,
    );
    if (!old || !partition) throw new Error('an odd partition has prices');
    // As if a worker was killed when half of a batch was stored.
    const end = partition.end + 3;
    while (
      (await it.bus.partitions()).find((p) => p.topic === TOPICS.orderBook && p.partition === partition.partition)
        ?.end !==
      end + 1
    ) {
      await appendPrice(it, partition.partition);
    }
    const n = { raw_records: 4, price_ticks: 4 };
    const intent = { v: 1, end, n, attempt: 0, transforms: TRANSFORM_VERSION, shard: 0 };
    await it.commit(TOPICS.orderBook, partition.partition, partition.end, intent);

    const two = await it.cluster(2);
    await it.worker(two.shards);
    await it.drained();
    const position = `_topic = '${TOPICS.orderBook}' AND _partition = ${partition.partition} AND _offset >= ${partition.end}`;
    expect(await old.rows(`SELECT count() AS n FROM chancery_shard.raw_records WHERE ${position}`)).toEqual([{ n: 4 }]);
    expect((await count(it, 1, 'raw_records')).rows).toBe(0);

    // New batches of the partition go to the new shard; earlier rows are found on the old one.
    await appendPrice(it, partition.partition, 1);
    await appendPrice(it, partition.partition);
    await data.more('second', NOW - 100, 40);
    await it.drained();
    const { rows: fresh } = await count(it, 1, 'raw_records');
    expect(fresh).toBeGreaterThan(0);
    expect((await count(it, 0, 'raw_records')).rows + fresh).toBe((await records(it)) - 1);
    await expectEachOnce(it);
    for (const sql of [
      'SELECT count() AS n FROM chancery_shard.collector_events',
      'SELECT * FROM chancery.events ORDER BY event',
      'SELECT * FROM chancery.sessions ORDER BY session_id',
    ]) {
      const answers = await Promise.all(it.servers.servers.map((server) => server.rows(sql)));
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[0]?.length).toBeGreaterThan(0);
    }
  });
});

let sent = 0;
/** Appends a price to a partition, with a key of that partition. */
async function appendPrice(it: ClusterRig, partition: number, n?: number): Promise<void> {
  if (n === undefined) sent += 1;
  const value = priceRecord(n ?? sent);
  for (let i = 0; ; i++) {
    const key = `key-${i}`;
    if (partitionOf(key, 4) !== partition) continue;
    await it.bus.append(TOPICS.orderBook, [{ key, value }]);
    return;
  }
}
