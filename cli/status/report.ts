import { statfs } from 'node:fs/promises';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { describeError, type Settings } from '../../core/index.js';
import { instancePaths, openBusReadOnly } from '../service/instance.js';
import { connectShards, findReadOnly, REPORTING } from '../service/read-only.js';
import { daysLeft, fewDaysProblems } from './days-left.js';
import { diskUse } from './disk.js';
import { lagOf, type PartitionLag } from './lag.js';
import { type Quality, qualityOf } from './quality.js';
import { type ServiceStatus, serviceStatuses } from './services.js';
import { clusterTableSizes, type TableSize, tableSizes } from './tables.js';

/** The state of an instance. What could not be read is null, and `problems` says why. */
export interface StatusReport {
  readonly dataFolder: string;
  /** ISO 8601. */
  readonly reportedAt: string;
  readonly services: readonly ServiceStatus[];
  readonly bus: readonly PartitionLag[] | null;
  readonly clickhouse: ClickHouseStatus | null;
  readonly tables: readonly TableSize[] | null;
  readonly quality: Quality | null;
  /** Bytes on disk. */
  readonly disk: {
    readonly bus: number;
    readonly clickhouse: number;
    readonly exchange: number;
    readonly free: number;
  };
  /** Days until that disk is full at the present rate; null while it is not known. */
  readonly diskDaysLeft?: number | null;
  readonly problems: readonly string[];
}

interface ClickHouseStatus {
  readonly url: string;
  /** Of an embedded server: why it is not restricted to its own files; null when it is. */
  readonly unconfined?: string | null;
}

/** Runs the work; when it fails, adds the reason to the problems and returns null. */
type Attempt = <T>(what: string, work: () => Promise<T>) => Promise<T | null>;

/** Reads the state of an instance; what cannot be read does not hide the rest. */
export async function instanceStatus(settings: Settings): Promise<StatusReport> {
  const problems: string[] = [];
  const attempt: Attempt = async (what, work) => {
    try {
      return await work();
    } catch (error) {
      problems.push(`${what}: ${describeError(error)}`);
      return null;
    }
  };
  const paths = instancePaths(settings.data);
  const [services, bus, warehouse, disk] = await Promise.all([
    serviceStatuses(settings.data),
    attempt('bus', () => busLag(settings)),
    attempt('ClickHouse', () => warehouseStatus(settings, attempt)),
    diskOf(paths),
  ]);
  if (warehouse === undefined) problems.push('ClickHouse: not running on this data folder; `chancery up` starts it');
  const report = {
    dataFolder: paths.folder,
    reportedAt: new Date().toISOString(),
    services,
    bus,
    clickhouse: warehouse?.clickhouse ?? null,
    tables: warehouse?.tables ?? null,
    quality: warehouse?.quality ?? null,
    disk,
  };
  const diskDaysLeft = daysLeft(report);
  return { ...report, diskDaysLeft, problems: [...problems, ...fewDaysProblems(diskDaysLeft)] };
}

async function busLag(settings: Settings): Promise<PartitionLag[]> {
  const bus = openBusReadOnly(settings);
  if (!bus) return [];
  try {
    return await lagOf(bus, settings.group);
  } finally {
    await bus.close();
  }
}

interface WarehouseStatus {
  readonly clickhouse: ClickHouseStatus;
  readonly tables: TableSize[];
  /** Null before the first migration. */
  readonly quality: Quality | null;
}

async function warehouseStatus(settings: Settings, attempt: Attempt): Promise<WarehouseStatus | undefined> {
  const connection = await findReadOnly(settings, REPORTING);
  if (!connection) return undefined;
  const { client, url, unconfined } = connection;
  const clickhouse = { url, ...(unconfined === undefined ? {} : { unconfined }) };
  try {
    const tables = await sizesOf(settings, client);
    const migrated = tables.some(({ name }) => name === 'applied_sql');
    return {
      clickhouse,
      tables,
      quality: migrated ? await attempt('quality', () => qualityOf(client, settings.database)) : null,
    };
  } catch (error) {
    // Before the first migration the database does not exist.
    if (error instanceof ClickHouseError && error.type === 'UNKNOWN_DATABASE')
      return { clickhouse, tables: [], quality: null };
    throw error;
  } finally {
    await connection.close();
  }
}

async function sizesOf(settings: Settings, client: ClickHouseClient): Promise<TableSize[]> {
  const shards = await connectShards(settings, REPORTING);
  if (!shards) return tableSizes(client, settings.database);
  try {
    const clients = shards.map((shard) => shard.client);
    return await clusterTableSizes(client, clients, settings.database);
  } finally {
    await Promise.all(shards.map((shard) => shard.close()));
  }
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
