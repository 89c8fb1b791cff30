import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSFORM_TABLES } from '../../../transforms/index.js';
import {
  type Cluster,
  Connection,
  checkColumns,
  migrate,
  migrateCluster,
  sqlFolder,
} from '../../../warehouse/index.js';
import { startCluster, type TestCluster } from '../../support/cluster.js';
import { runAs } from '../../support/run-as.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const never = new AbortController().signal;
const options = { fsync: false, tables: TRANSFORM_TABLES };
let servers: TestCluster;
let cluster: Cluster;

beforeAll(async () => {
  servers = await startCluster({ shards: 2 });
  cluster = servers.open();
});
afterAll(async () => {
  await cluster?.close();
  await servers?.stop();
});

/** A modified copy of Chancery's SQL folder. */
function changedSql(change: (folder: string) => void): string {
  const folder = temporaryFolder();
  cpSync(sqlFolder(), folder, { recursive: true });
  change(folder);
  return folder;
}

describe('migrating a cluster', () => {
  it('creates the same tables, distributed tables and views on every node, once', async () => {
    const results = await migrateCluster(cluster, options, never);
    expect(results.map((result) => result.url)).toEqual(servers.servers.map((server) => server.endpoint.url));
    for (const result of results) {
      expect(result.migrations[0]).toBe('0001_create_price_ticks');
      expect(result.distributedTables).toEqual(expect.arrayContaining(['price_ticks', 'event_states', 'price_states']));
      expect(result.views).toEqual(expect.arrayContaining(['latest_prices', 'candles']));
    }
    const again = await migrateCluster(cluster, options, never);
    for (const result of again) {
      expect(result).toMatchObject({ migrations: [], distributedTables: [], views: [], dropped: [] });
    }
    for (const shard of cluster.shards) await checkColumns(shard, TRANSFORM_TABLES);
  });

  it('creates views of the node’s own rows for tables on every shard, and distributed tables for the others', async () => {
    for (const { rows } of servers.servers) {
      const distributedTables = await rows<{ name: string; engine: string }>(
        "SELECT name, engine FROM system.tables WHERE database = 'chancery' AND (database, name) IN (SELECT 'chancery', name FROM system.tables WHERE database = 'chancery_shard') ORDER BY name",
      );
      const engineOf = Object.fromEntries(distributedTables.map(({ name, engine }) => [name, engine]));
      expect(engineOf).toMatchObject({
        price_ticks: 'Distributed',
        price_states: 'Distributed',
        raw_records: 'Distributed',
        chance_history_points: 'Distributed',
        collector_events: 'View',
        session_states: 'View',
        event_observations: 'View',
        event_states: 'View',
        coin_states: 'View',
      });
      const comments = await rows<{ missing: number }>(
        "SELECT count() AS missing FROM system.columns WHERE database = 'chancery' AND comment = ''",
      );
      expect(comments).toEqual([{ missing: 0 }]);
    }
  });

  it('returns the rows of all shards to the reader through any node', async () => {
    for (const [i, server] of servers.servers.entries()) {
      await server.run(
        `INSERT INTO chancery_shard.price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, source)
         VALUES ('l', ${i}, 0, 0, now64(6), 'e', 'm${i}', 0.5, 'delta')`,
      );
    }
    for (const server of servers.servers) {
      expect(await runAs(server.endpoint.reader, 'SELECT market FROM chancery.latest_prices ORDER BY market')).toBe(
        'm0\nm1\n',
      );
    }
    for (const server of servers.servers) {
      await server.run('TRUNCATE TABLE chancery_shard.price_ticks');
      await server.run('TRUNCATE TABLE chancery_shard.price_states');
    }
  });

  it('refuses a migration that was changed, and adds a new column to the distributed tables', async () => {
    const changed = changedSql((folder) => {
      const path = join(folder, 'migrations', '0001_create_price_ticks.sql');
      writeFileSync(path, `${readFileSync(path, 'utf8')}\nSELECT 1;`);
    });
    await expect(migrateCluster(cluster, { ...options, folder: changed }, never)).rejects.toThrow(
      /^database \w+ at http:\S+ has another migration 0001_create_price_ticks\.sql/,
    );
    const more = changedSql((folder) => {
      writeFileSync(
        join(folder, 'migrations', '9999_add_note.sql'),
        "ALTER TABLE {database}.polls ADD COLUMN IF NOT EXISTS note String DEFAULT '' COMMENT 'A note';\n" +
          "ALTER TABLE {database}.price_ticks ADD COLUMN IF NOT EXISTS note String DEFAULT 'none' COMMENT 'A note'",
      );
    });
    const results = await migrateCluster(cluster, { ...options, folder: more }, never);
    for (const result of results) {
      expect(result.migrations).toEqual(['9999_add_note']);
      expect(result.distributedTables).toEqual(['polls', 'price_ticks']);
    }
    for (const { run } of servers.servers) {
      expect(await run('SELECT any(note) FROM chancery.polls')).toBe('\n');
      expect(await run('SELECT any(note) FROM chancery.price_ticks')).toBe('\n');
    }
    for (const { run } of servers.servers) {
      for (const table of ['polls', 'price_ticks']) await run(`ALTER TABLE chancery_shard.${table} DROP COLUMN note`);
      await run(
        "ALTER TABLE chancery_shard.applied_sql DELETE WHERE name = '9999_add_note' SETTINGS mutations_sync = 1",
      );
    }
    await migrateCluster(cluster, options, never);
  });

  it('refuses shards in another order, fewer shards, and nodes with another cluster', async () => {
    const [first, second] = servers.servers.map((server) => server.endpoint);
    if (!first || !second) throw new Error('two servers run');
    const swapped = { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, shard: 1 - node.shard })) };
    await expect(migrateCluster(swapped, options, never)).rejects.toThrow(
      `${first.url} holds shard 1 of the cluster but is configured as shard 2; restore the order of the shards`,
    );
    const one = servers.open(1);
    await expect(migrateCluster(one, options, never)).rejects.toThrow(
      `${first.url} has recorded 2 shards, but 1 are configured; name all of them`,
    );
    await one.close();
    await expect(migrateCluster({ ...cluster, name: 'other' }, options, never)).rejects.toThrow(
      /has the cluster other with no nodes per shard in remote_servers, but 1 \+ 1 are configured/,
    );
  });

  it('refuses a single server’s database for a cluster, and the reverse', async () => {
    const endpoint = servers.servers[0]?.endpoint.owner;
    if (!endpoint) throw new Error('a server runs');
    const connection = new Connection({ endpoint, database: 'chancery', application: 'test' });
    await expect(migrate(connection, { fsync: false }, never)).rejects.toThrow(
      /is a node of a cluster \(it has the database chancery_shard\); name all of its nodes with --clickhouse-cluster/,
    );
    await connection.close();
  });
});
