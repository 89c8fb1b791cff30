import { statfs } from 'node:fs/promises';
import { ClickHouseError } from '@clickhouse/client';
import { describeError, type Settings } from '../../core/index.js';
import { instancePaths, lookAtBus } from '../parts/instance.js';
import { findReadOnly } from '../parts/read-only.js';
import { diskUse } from './disk.js';
import { lagOf, type PartitionLag } from './lag.js';
import { type PartStatus, partStatuses } from './parts.js';
import { type TableSize, tableSizes } from './tables.js';

/** What one look at an instance found. What could not be asked is null, and `problems` says why. */
export interface StatusReport {
  readonly dataFolder: string;
  /** ISO 8601. */
  readonly at: string;
  readonly parts: readonly PartStatus[];
  readonly bus: readonly PartitionLag[] | null;
  readonly clickhouse: { readonly url: string } | null;
  readonly tables: readonly TableSize[] | null;
  /** Bytes on disk. */
  readonly disk: {
    readonly bus: number;
    readonly clickhouse: number;
    readonly exchange: number;
    readonly free: number;
  };
  readonly problems: readonly string[];
}

/** Looks at an instance; parts that are down do not keep the others from being seen. */
export async function lookAt(settings: Settings): Promise<StatusReport> {
  const problems: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      problems.push(`${what}: ${describeError(error)}`);
      return null;
    }
  };
  const paths = instancePaths(settings.data);
  const [parts, bus, warehouse, disk] = await Promise.all([
    partStatuses(settings.data),
    attempt('bus', () => busLag(settings)),
    attempt('ClickHouse', () => lookAtWarehouse(settings)),
    diskOf(paths),
  ]);
  if (warehouse === undefined) problems.push('ClickHouse: none runs on this data folder; `chancery up` starts it');
  return {
    dataFolder: paths.folder,
    at: new Date().toISOString(),
    parts,
    bus,
    clickhouse: warehouse ? { url: warehouse.url } : null,
    tables: warehouse?.tables ?? null,
    disk,
    problems,
  };
}

async function busLag(settings: Settings): Promise<PartitionLag[]> {
  const bus = lookAtBus(settings);
  if (!bus) return [];
  try {
    return await lagOf(bus, settings.group);
  } finally {
    await bus.close();
  }
}

async function lookAtWarehouse(settings: Settings): Promise<{ url: string; tables: TableSize[] } | undefined> {
  const connection = await findReadOnly(settings);
  if (!connection) return undefined;
  try {
    const tables = await tableSizes(connection.client, settings.database).catch(whenNothingWasRecorded);
    return { url: connection.url, tables };
  } finally {
    await connection.close();
  }
}

/** A server that was never migrated does not have the database yet. */
function whenNothingWasRecorded(error: unknown): TableSize[] {
  if (error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE') return [];
  throw error;
}

async function diskOf(paths: ReturnType<typeof instancePaths>) {
  const [bus, clickhouse, exchange, { bavail, bsize }] = await Promise.all([
    diskUse(paths.bus),
    diskUse(paths.clickhouse),
    diskUse(paths.exchange),
    statfs(paths.folder),
  ]);
  return { bus, clickhouse, exchange, free: bavail * bsize };
}
