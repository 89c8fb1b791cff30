import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Bus, openBus as openConfiguredBus } from '../../bus/index.js';
import { type Component, type Logger, type Settings, UsageError } from '../../core/index.js';
import { clickHousePlace } from './clickhouse-place.js';

/** Where the parts of one instance keep their things, below its data folder. */
export function instancePaths(dataFolder: string) {
  const folder = resolve(dataFolder);
  return {
    folder,
    bus: join(folder, 'bus'),
    clickhouse: join(folder, 'clickhouse'),
    exchange: join(folder, 'exchange'),
    /** Credentials of the simulated exchange's accounts, for the collector. */
    exchangeAccounts: join(folder, 'exchange-accounts.json'),
    logs: join(folder, 'logs'),
    run: join(folder, 'run'),
    sqlHistory: join(folder, 'sql-history'),
  };
}

/** Opens the bus of an instance: Kafka where it is configured, else the log in its folder, which is made if need be. */
export function openBus(settings: Settings, log: Logger): Bus {
  return openConfiguredBus(settings, { dir: instancePaths(settings.data).bus, log });
}

/** A bus that is closed after everything that was started after it has stopped. */
export function closing(bus: Bus): Component {
  return { name: 'bus', start: () => Promise.resolve(), stop: () => bus.close() };
}

/** The bus of an instance for looking only; undefined when nothing was ever recorded there. */
export function lookAtBus(settings: Settings, log?: Logger): Bus | undefined {
  const { bus } = instancePaths(settings.data);
  if (settings.kafkaBrokers === undefined && !existsSync(bus)) return undefined;
  return openConfiguredBus(settings, { dir: bus, retentionEveryMs: 0, ...(log ? { log } : {}) });
}

/** @throws UsageError when there is no data folder and no ClickHouse elsewhere is configured */
export function assertInstance(settings: Settings): void {
  if (clickHousePlace(settings).kind !== 'embedded') return;
  const { folder } = instancePaths(settings.data);
  if (!existsSync(folder)) {
    throw new UsageError(
      `there is no data folder ${folder}; start recording with \`chancery up\`, or name it with --data`,
    );
  }
}

/** @throws UsageError when no embedded ClickHouse ever ran on the data folder */
export function assertRecorded(settings: Settings): void {
  const { folder, clickhouse } = instancePaths(settings.data);
  if (!existsSync(clickhouse)) {
    throw new UsageError(
      `nothing was recorded in ${folder} yet; start recording with \`chancery up\`, or name another folder with --data`,
    );
  }
}
