import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlFolder } from '../../../warehouse/index.js';
import { chancery } from '../../cli/command.js';
import type { TestClickHouse } from '../../support/clickhouse.js';
import { startCluster, type TestCluster } from '../../support/cluster.js';
import { describeWithout } from '../../support/describe-without.js';
import { runAs } from '../../support/run-as.js';
import { whyNoZooKeeper, ZooKeeper } from '../../zookeeper/zookeeper.js';

const SUITE = 'chancery migrate on a shard of two replicas, with a ZooKeeper';
const PATH = '/chancery/chancery/chancery_shard/shard-1';
/** Tables about the node itself. */
const OWN = ['applied_sql', 'cluster_layouts', 'copied_partitions'];

/** Tables of the migrations, and their engines without `Replicated`. */
function tablesOfMigrations(): Map<string, string> {
  const folder = join(sqlFolder(), 'migrations');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const statements = texts
    .join('\n')
    .matchAll(/CREATE TABLE IF NOT EXISTS \{database\}\.(\w+)(?:(?!CREATE)[\s\S])*?\{engine:(\w+)/g);
  return new Map([...statements].map(([, table = '', engine = '']) => [table, engine]));
}

const tables = tablesOfMigrations();
const names = [...tables.keys()].sort();

function suite(): void {
  let zooKeeper: ZooKeeper;
  let cluster: TestCluster;
  let migrate: () => ReturnType<typeof chancery>;

  beforeAll(async () => {
    zooKeeper = await ZooKeeper.start();
    cluster = await startCluster({ shards: 1, replicas: 2, keeperPort: zooKeeper.port });
    const [first] = cluster.servers;
    if (!first) throw new Error('two servers run');
    const { user, password } = first.endpoint.owner;
    const login = ['--clickhouse-user', user, '--clickhouse-password', password.reveal()];
    migrate = () => chancery(['migrate', '--clickhouse-cluster', cluster.nodes, ...login]);
    const { code, err } = await migrate();
    expect([code, err]).toEqual([0, '']);
  });
  afterAll(async () => {
    await cluster?.stop();
    await zooKeeper?.remove();
  });

  const replicaOf = (server: TestClickHouse) => new URL(server.endpoint.url).host.replace(':', '-');

  it('creates every table replicated, with the path of its shard and the name of its node', async () => {
    expect(names).toHaveLength(51);
    for (const server of cluster.servers) {
      const made = await server.rows<{ name: string; engine: string; engine_full: string }>(
        `SELECT name, engine, engine_full FROM system.tables
         WHERE database = 'chancery_shard' AND engine LIKE '%MergeTree' ORDER BY name`,
      );
      const replicated = made.filter(({ name }) => !OWN.includes(name));
      expect(made.length - replicated.length).toBe(OWN.length);
      expect(replicated.map(({ name }) => name)).toEqual(names);
      for (const { name, engine, engine_full } of replicated) {
        expect([name, engine]).toEqual([name, `Replicated${tables.get(name)}`]);
        expect(engine_full).toContain(`${engine}('${PATH}/${name}', '${replicaOf(server)}'`);
        expect(engine_full).toMatch(/replicated_deduplication_window = (0|10000)\b/);
      }
    }
  });

  it('creates in ZooKeeper one path per table, with both replicas below it', async () => {
    const paths = await zooKeeper.paths('/chancery');
    const below = (parent: string) =>
      paths.filter((path) => path.startsWith(`${parent}/`) && !path.slice(parent.length + 1).includes('/')).sort();
    expect(below(PATH)).toEqual(names.map((name) => `${PATH}/${name}`));
    const replicas = cluster.servers.map(replicaOf).sort();
    for (const name of names) {
      const parent = `${PATH}/${name}/replicas`;
      expect(below(parent)).toEqual(replicas.map((replica) => `${parent}/${replica}`));
    }
  });

  it('finds nothing to do the second time', async () => {
    expect(await migrate()).toEqual({ code: 0, out: 'nothing to do: the database is up to date\n', err: '' });
  });

  it('answers queries on either node', async () => {
    for (const { endpoint } of cluster.servers) {
      expect(await runAs(endpoint.reader, 'SELECT count() FROM chancery.price_ticks')).toBe('0\n');
      expect(await runAs(endpoint.reader, 'SELECT count() FROM chancery.latest_prices')).toBe('0\n');
    }
  });

  it('stops there: replicated tables of the embedded server are read-only', async () => {
    for (const server of cluster.servers) {
      const writable = await server.rows('SELECT table FROM system.replicas WHERE NOT is_readonly');
      expect(writable).toEqual([]);
      const insert = server.run(
        "INSERT INTO chancery_shard.price_ticks (_log) SETTINGS insert_keeper_max_retries = 0 VALUES ('log')",
      );
      await expect(insert).rejects.toThrow('TABLE_IS_READ_ONLY');
    }
  });
}

const why = whyNoZooKeeper();
if (why === undefined) describe(SUITE, suite);
else describeWithout(SUITE, why, {}, suite);
