import { join } from 'node:path';
import { openEmbeddedBus } from '../../bus/index.js';
import { Connection, migrate } from '../../warehouse/index.js';
import type { TestClickHouse } from '../support/clickhouse.js';
import { WorkerRig } from '../transforms/worker-rig.js';
import { MarketRecords } from '../warehouse/cluster/market-records.js';

const FROM = Date.UTC(2026, 0, 4, 22) / 1000;
const TO = FROM + 4 * 3600;

interface RecordedTimes {
  readonly from: number;
  readonly to: number;
  /** When a market has a final chance, which moves again later. */
  readonly finalAt?: number;
}

/**
 * Makes an instance by a worker from records of every kind.
 * @param times Unix seconds; by default those of two finished days, 2026-01-04 and 2026-01-05
 */
export async function recordMarkets(
  { dataFolder, endpoint }: Pick<TestClickHouse, 'dataFolder' | 'endpoint'>,
  times: RecordedTimes = { from: FROM, to: TO },
): Promise<void> {
  const connection = new Connection({ endpoint: endpoint.owner, database: 'chancery', application: 'test' });
  await migrate(connection, { fsync: false }, new AbortController().signal);
  await connection.close();
  const bus = openEmbeddedBus({ dir: join(dataFolder, 'bus') });
  const rig = new WorkerRig(endpoint.owner, 'chancery', bus);
  await rig.prepare();
  await new MarketRecords(5, bus).append(times.from, times.to, times.finalAt);
  // Bodies never expire.
  await rig.worker({ bodyRetentionDays: 20_000 });
  await rig.drained();
  await rig.close();
}
