import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type TestCluster } from '../support/cluster.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chancery } from './command.js';

let cluster: TestCluster;
let flags: string[] = [];
beforeAll(async () => {
  cluster = await startCluster({ shards: 2 });
  const [first] = cluster.servers;
  if (!first) throw new Error('two servers run');
  const { user, password } = first.endpoint.owner;
  flags = [
    '--clickhouse-cluster',
    cluster.nodes,
    '--clickhouse-user',
    user,
    '--clickhouse-password',
    password.reveal(),
  ];
});
afterAll(async () => {
  await cluster?.stop();
});

const urls = () => cluster.servers.map((server) => server.endpoint.url);

describe('chancery on a cluster', () => {
  it('migrates every node, reporting each, and does nothing the second time', async () => {
    const first = await chancery(['migrate', ...flags]);
    expect(first.err).toBe('');
    for (const url of urls()) expect(first.out).toContain(`applied migration 0001_create_price_ticks at ${url}\n`);
    expect(await chancery(['migrate', ...flags])).toEqual({
      code: 0,
      out: 'nothing to do: the database is up to date\n',
      err: '',
    });
  });

  it('answers queries through any node, also when the first is not running', async () => {
    for (const [i, server] of cluster.servers.entries()) {
      await server.run(
        `INSERT INTO chancery_shard.price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, source)
         VALUES ('l', ${i}, 0, 0, now64(6), 'e', 'm${i}', 0.5, 'delta')`,
      );
    }
    const ask = (nodes: string) =>
      chancery(['sql', '--format', 'csv', ...flags.with(1, nodes), 'SELECT count() AS n FROM price_ticks']);
    expect((await ask(cluster.nodes)).out).toBe('"n"\n2\n');
    expect((await ask(`http://127.0.0.1:1,${cluster.nodes}`)).out).toBe('"n"\n2\n');
  });

  it('sums the shards in status', async () => {
    const { out } = await chancery(['status', '--json', '--data', temporaryFolder(), ...flags]);
    const report = JSON.parse(out) as { problems: string[]; tables: { name: string; rows: number }[] };
    expect(report.tables.find((table) => table.name === 'price_ticks')?.rows).toBe(2);
  });

  it('checks every node in doctor', async () => {
    const look = async (nodes: string) => {
      const { out } = await chancery(['doctor', '--json', '--data', temporaryFolder(), ...flags.with(1, nodes)]);
      const findings = JSON.parse(out) as { check: string; state: string; found: string }[];
      return findings.filter(({ check }) => check.startsWith('ClickHouse shard'));
    };
    expect(await look(cluster.nodes)).toEqual(
      urls().map((url, i) => ({
        check: `ClickHouse shard ${i + 1}, ${new URL(url).host}`,
        state: 'ok',
        found: expect.stringMatching(/^version .* responds at .*; tables are up to date$/),
      })),
    );
    const swapped = await look(urls().reverse().join(';'));
    expect(swapped.map(({ state }) => state)).toEqual(['fail', 'fail']);
    expect(swapped[0]?.found).toContain('holds shard 2 of the cluster but is configured as shard 1');
  });

  it('refuses a server together with a cluster', async () => {
    const { code, err } = await chancery(['sql', ...flags, '--clickhouse-url', 'http://127.0.0.1:1', 'SELECT 1']);
    expect(code).toBe(2);
    expect(err).toContain('both a ClickHouse server (--clickhouse-url) and a cluster (--clickhouse-cluster)');
  });
});
