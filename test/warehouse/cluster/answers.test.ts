import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retry } from '../../../core/index.js';
import { type Cluster, Connection, migrate } from '../../../warehouse/index.js';
import { comparable, farMoments, type Row } from '../../sql/comparable-rows.js';
import { argumentsOf } from '../../sql/warehouse-data.js';
import type { TestClickHouse } from '../../support/clickhouse.js';
import { ClusterRig } from './cluster-rig.js';
import { MarketRecords } from './market-records.js';

let rig: ClusterRig;
let cluster: Cluster;
let single: Connection;
let records: MarketRecords;

beforeAll(async () => {
  rig = await ClusterRig.start(2);
  cluster = await rig.cluster();
  const [first] = rig.servers.servers;
  if (!first) throw new Error('a server runs');
  single = new Connection({ endpoint: first.endpoint.owner, database: 'single', application: 'test' });
  await migrate(single, { fsync: false }, new AbortController().signal);
  const now = Math.floor(Date.now() / 1000);
  records = new MarketRecords(1, rig.bus);
  await records.append(now - 26 * 3600 + 600, now - 300);
  await Promise.all([rig.worker(cluster.shards), rig.worker([single], { group: 'single' })]);
  await Promise.all([rig.drained(), rig.drained('single')]);
});
afterAll(async () => {
  await single?.close();
  await rig?.close();
});

function server(i: number): TestClickHouse {
  const found = rig.servers.servers[i];
  if (!found) throw new Error(`server ${i} runs`);
  return found;
}

const ACCOUNT_TABLES =
  /^(order|trade|transaction|activity)_records$|^(position|active_order|balance|tpsl_order|profile|position_stats)_observations$|^account_pages$|^(order|balance)_updates$/;

/** What cannot be the same: on a cluster it is about the shard whose server is asked. */
const OF_ONE_SERVER = 'table_sizes';

/** Without it, ClickHouse sends NULL for NaN and infinity. */
const AS_WRITTEN = 'output_format_json_quote_denormals = 1';
const NOT_FINITE = /^[+-]?(nan|inf)$/;

describe('a cluster of two shards and a single server with the same records', () => {
  it('each have a part of the large tables, and all rows of the small ones', async () => {
    const counts = await Promise.all(
      [0, 1].map((i) =>
        server(i).rows<{ name: string; rows: number }>(
          `SELECT name, toUInt32(total_rows) AS rows FROM system.tables
           WHERE database = 'chancery_shard' AND engine LIKE '%MergeTree' ORDER BY name`,
        ),
      ),
    );
    const [first = {}, second = {}] = counts.map((rows) => Object.fromEntries(rows.map((r) => [r.name, r.rows])));
    const all = await single.query<{ name: string; rows: number }>(
      "SELECT name, toUInt32(total_rows) AS rows FROM system.tables WHERE database = 'single' AND engine LIKE '%MergeTree'",
    );
    const whole = Object.fromEntries(all.map((r) => [r.name, r.rows]));
    for (const name of ['price_ticks', 'chance_points', 'raw_records']) {
      expect([name, (first[name] ?? 0) > 0 && (second[name] ?? 0) > 0]).toEqual([name, true]);
      expect([name, (first[name] ?? 0) + (second[name] ?? 0)]).toEqual([name, whole[name]]);
    }
    for (const name of [
      'collector_events',
      'polls',
      'event_observations',
      'market_observations',
      'coin_observations',
    ]) {
      expect([name, first[name], second[name]]).toEqual([name, whole[name], whole[name]]);
    }
    // Some of these records are on both shards, and merges may have removed any number of rows.
    const ofAccounts = Object.keys(whole).filter((name) => ACCOUNT_TABLES.test(name));
    expect(ofAccounts).toHaveLength(13);
    for (const name of ofAccounts) {
      expect([name, (first[name] ?? 0) > 0 && (second[name] ?? 0) > 0]).toEqual([name, true]);
    }
  });

  it('count the rows of the tables of the shard whose server is asked', async () => {
    const sum = 'SELECT toUInt32(sum(rows)) AS rows, count() AS tables FROM';
    const [whole] = await single.query<{ rows: number; tables: number }>(`${sum} single.table_sizes`);
    for (const { connection } of cluster.nodes) {
      const [own] = await connection.query<{ rows: number; tables: number }>(`${sum} chancery.table_sizes`);
      expect(own?.tables).toBeGreaterThanOrEqual(whole?.tables ?? Number.POSITIVE_INFINITY);
      expect(own?.rows).toBeGreaterThan(100);
    }
  });

  it('transformed every record except the two that are invalid', async () => {
    const sql = (database: string) => `SELECT kind, reason FROM ${database}.dead_letters ORDER BY reason`;
    const expected = await single.query<{ kind: string }>(sql('single'));
    expect(expected.map(({ kind }) => kind)).toEqual(['order-book.frame', 'order-book.frame']);
    for (const { connection } of cluster.nodes) expect(await connection.query(sql('chancery'))).toEqual(expected);
  });

  it('return the same rows from every view, every other one through the second node, and finite numbers only', async () => {
    const views = await single.query<{ name: string; definition: string }>(
      `SELECT name, create_table_query AS definition FROM system.tables
       WHERE database = 'single' AND engine = 'View' AND name != '${OF_ONE_SERVER}' ORDER BY name`,
    );
    expect(views.length).toBeGreaterThan(20);
    const empty: string[] = [];
    const [market] = records.marketsOf(records.events[0] ?? '');
    for (const [i, { name, definition }] of views.entries()) {
      // Dead letters are written while the test runs.
      const to = name === 'dead_letters_between' ? { to_at: "'2100-01-01'" } : {};
      const source = `${name}${argumentsOf(definition, { market: `'${market}'`, ...to })}`;
      const ask = (connection: Connection, database: string) =>
        // The server closes idle connections, also one on which a request is being sent.
        retry(() => connection.query<Row>(`SELECT * FROM ${database}.${source} SETTINGS ${AS_WRITTEN}`)).catch(
          (error: Error) => {
            throw new Error(`${database}.${name}: ${error.message}`);
          },
        );
      const node = cluster.nodes[i % cluster.nodes.length];
      if (!node) throw new Error('the cluster has nodes');
      const both = async () => Promise.all([ask(single, 'single'), ask(node.connection, 'chancery')]);
      let [rows, rowsOfNode] = await both();
      // On a busy machine the two may be answered seconds apart, by which columns of the present differ.
      for (let again = 0; again < 2 && farMoments(comparable(rowsOfNode), comparable(rows)).length > 0; again += 1) {
        [rows, rowsOfNode] = await both();
      }
      const [expected, answer] = [comparable(rows), comparable(rowsOfNode)];
      const invalid = rows.find((row) => Object.values(row).some((value) => NOT_FINITE.test(String(value))));
      expect([name, invalid]).toEqual([name, undefined]);
      if (expected.exact.length === 0) empty.push(name);
      expect([name, answer.exact]).toEqual([name, expected.exact]);
      expect([name, farMoments(answer, expected)]).toEqual([name, []]);
    }
    // No record was lost.
    expect(empty).toEqual(['lost_periods']);
  });

  it('hold the same rows in every table, each once', async () => {
    const tables = await single.query<{ name: string; replacing: number; key: string; version: string }>(
      `SELECT name, engine LIKE 'Replacing%' AS replacing, sorting_key AS key,
         extract(engine_full, '^ReplacingMergeTree\\\\((\\\\w+)\\\\)') AS version FROM system.tables
       WHERE database = 'single' AND engine IN ('MergeTree', 'ReplacingMergeTree') 
         AND name NOT IN ('applied_sql', 'database_identity')
         -- What workers have computed, each from the trades of its shard and when it had time.
         AND name NOT IN ('position_states', 'own_volumes')`,
    );
    for (const { name, replacing, key, version } of tables) {
      const latest = `FINAL ORDER BY ${version === '' ? key : `${version} DESC`} LIMIT 1 BY ${key}`;
      const sql = (database: string) => `SELECT * FROM ${database}.${name} ${replacing ? latest : ''}`;
      const expected = comparable(await single.query<Row>(sql('single'))).exact;
      for (const { connection } of cluster.nodes) {
        const rows = await connection.query<Row>(sql('chancery'));
        expect([name, comparable(rows).exact]).toEqual([name, expected]);
      }
    }
  });

  it('join prices with tables on every shard, without GLOBAL', async () => {
    const sql = (database: string) =>
      `SELECT title, count() AS ticks, uniqExact(market) AS markets FROM ${database}.price_ticks AS t
       INNER JOIN ${database}.events AS e ON e.event = t.event GROUP BY title ORDER BY title`;
    const expected = await single.query(sql('single'));
    expect(expected.length).toBeGreaterThan(5);
    for (const { connection } of cluster.nodes) expect(await connection.query(sql('chancery'))).toEqual(expected);
  });
});
