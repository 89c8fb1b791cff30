import { expect, it } from 'vitest';
import { chancery } from '../cli/command.js';
import { Rig } from '../pipeline/rig.js';
import { startCluster, type TestCluster } from '../support/cluster.js';
import { until } from '../support/until.js';
import { describeWithKafka } from './index.js';

/** Raw records of each shard, and their distinct positions on the bus. */
const RECORDS =
  'SELECT count() AS records, uniqExact(_topic, _log, _partition, _offset) AS positions FROM chancery_shard.raw_records';

describeWithKafka('chancery on Kafka and a ClickHouse cluster', {}, (kafka) => {
  it('runs by configuration alone, and writes every record to one shard once while a worker is killed', async () => {
    const cluster = await startCluster({ shards: 2 });
    const bus = kafka.open();
    const args = ['--kafka-brokers', kafka.brokers.join(','), '--kafka-prefix', bus.prefix];
    const rig = new Rig({ kafka: { bus, args } });
    try {
      const flags = flagsOf(cluster);
      expect((await chancery(['migrate', ...flags])).code).toBe(0);
      await rig.startExchange({ seed: 3, events: 8, pace: 5 });
      await Promise.all([
        ...[0, 1].map((i) => rig.start('collect', ['--collector-name', `c${i}`, '--shard', `${i}/2`], `collect ${i}`)),
        ...[0, 1].map((i) => rig.start('transform', [...flags, '--kafka-session-ms', '2000'], `transform ${i}`)),
      ]);
      await bothGet(cluster, 100);
      await rig.service('transform 0').kill9();
      await bothGet(cluster, 100);
      for (const i of [0, 1]) expect(await rig.service(`collect ${i}`).stop()).toBe(0);
      await rig.drained();
      const appended = (await bus.partitions()).reduce((sum, { begin, end }) => sum + end - begin, 0);
      const shards = await Promise.all(
        cluster.servers.map(async ({ rows }) => (await rows<{ records: number; positions: number }>(RECORDS))[0]),
      );
      for (const shard of shards) expect(shard?.positions).toBe(shard?.records);
      expect(shards.reduce((sum, shard) => sum + (shard?.records ?? 0), 0)).toBe(appended);
      const asked = await chancery(['sql', '--format', 'csv', ...flags, 'SELECT count() > 10 AS n FROM latest_prices']);
      expect(asked).toEqual({ code: 0, out: '"n"\n1\n', err: '' });
      expect(await rig.service('transform 1').stop()).toBe(0);
    } finally {
      await rig.close();
      await cluster.stop();
    }
  });
});

/** Waits until each shard has this many more ticks than now. */
async function bothGet({ servers }: TestCluster, more: number): Promise<void> {
  const ticks = () =>
    Promise.all(
      servers.map(async ({ rows }) => {
        const [row] = await rows<{ n: number }>('SELECT count() AS n FROM chancery_shard.price_ticks');
        return row?.n ?? 0;
      }),
    );
  const before = await ticks();
  await until(async () => {
    const now = await ticks();
    return now.every((n, i) => n > (before[i] ?? 0) + more) || `${before} ticks, then ${now}`;
  });
}

function flagsOf(cluster: TestCluster): string[] {
  const [first] = cluster.servers;
  if (!first) throw new Error('two servers run');
  const { user, password } = first.endpoint.owner;
  return ['--clickhouse-cluster', cluster.nodes, '--clickhouse-user', user, '--clickhouse-password', password.reveal()];
}
