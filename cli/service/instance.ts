import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Bus, openBus as openConfiguredBus } from '../../bus/index.js';
import { type Component, type Logger, type Settings, UsageError, writeFileAtomicSync } from '../../core/index.js';
import { clickHouseTarget } from './clickhouse-target.js';

/** Files and folders in the data folder of an instance. */
export function instancePaths(dataFolder: string) {
  const folder = resolve(dataFolder);
  return {
    folder,
    /** Holds the layout version of the data folder. */
    layout: join(folder, 'layout'),
    bus: join(folder, 'bus'),
    clickhouse: join(folder, 'clickhouse'),
    collector: join(folder, 'collector'),
    exchange: join(folder, 'exchange'),
    /** Credentials of the simulated exchange's accounts, for the collector. */
    exchangeAccounts: join(folder, 'exchange-accounts.json'),
    /** Key under which exports write user IDs and names. */
    exportUserKey: join(folder, 'export-user-key'),
    logs: join(folder, 'logs'),
    run: join(folder, 'run'),
    sqlHistory: join(folder, 'sql-history'),
    viewerToken: join(folder, 'viewer-token'),
  };
}

/** @throws a system error when this user may not know it: a folder that cannot be read is not one without data */
const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Opens the bus of an instance: Kafka if configured, else the embedded log in the data folder, which is created. */
export function openBus(settings: Settings, log: Logger): Bus {
  return openConfiguredBus(settings, { dir: instancePaths(settings.data).bus, log });
}

/** Closes the bus after all components that were started after it have stopped. */
export function closing(bus: Bus): Component {
  return { name: 'bus', start: () => Promise.resolve(), stop: () => bus.close() };
}

/** The bus of an instance, for reading its state; undefined when nothing has been recorded. */
export function openBusReadOnly(settings: Settings, log?: Logger): Bus | undefined {
  const { bus } = instancePaths(settings.data);
  if (settings.kafkaBrokers === undefined && !exists(bus)) return undefined;
  return openConfiguredBus(settings, { dir: bus, retentionEveryMs: 0, ...(log ? { log } : {}) });
}

/**
 * @throws UsageError when no ClickHouse server is configured and the data folder does not exist or has another layout
 */
export function assertInstance(settings: Settings): void {
  assertLayout(settings.data);
  if (clickHouseTarget(settings).kind !== 'embedded') return;
  const { folder } = instancePaths(settings.data);
  if (!exists(folder)) {
    throw new UsageError(
      `data folder ${folder} does not exist; start recording with \`chancery up --data ${folder}\`, or name another folder with --data`,
    );
  }
}

/** @throws UsageError when the data folder has no tables of the embedded ClickHouse */
export function assertRecorded(settings: Settings): void {
  const { folder, clickhouse } = instancePaths(settings.data);
  if (!exists(clickhouse)) {
    throw new UsageError(
      `${folder} has no ClickHouse data yet: no worker has written there; start \`chancery up\`, or name another folder with --data`,
    );
  }
}

/** Layout version of the data folder: increased when a version cannot read the data of the one before it. */
const LAYOUT = '1';

/**
 * Checks that this version can read the data folder.
 * @returns whether the folder has a layout file; one without data need not
 * @throws UsageError when it has another layout
 */
export function assertLayout(data: string): boolean {
  const { folder, layout, bus, clickhouse, collector, exchange } = instancePaths(data);
  // Read first: another service that starts at the same time writes its layout before its data.
  const hasData = [bus, clickhouse, collector, exchange].some((path) => exists(path));
  const found = exists(layout) ? readFileSync(layout, 'utf8').trim() : undefined;
  if (found === LAYOUT) return true;
  if (found === undefined && !hasData) return false;
  const what = found === undefined ? 'of an earlier version (it has no file "layout")' : JSON.stringify(found);
  throw new UsageError(
    `data folder ${folder} has the layout ${what}, and this version of Chancery reads layout "${LAYOUT}" only; ` +
      'use the version that wrote it, or choose another folder with --data',
  );
}

/** As `assertLayout`; a folder without data gets the layout of this version. */
export function claimLayout(data: string): void {
  if (!assertLayout(data)) writeFileAtomicSync(instancePaths(data).layout, `${LAYOUT}\n`);
}
