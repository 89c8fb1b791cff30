import { join } from 'node:path';
import { type CollectorOptions, SCHEDULES, type SchedulePatterns } from '../../collectors/index.js';
import type { Settings } from '../../core/index.js';
import { exchangeAddresses } from './exchange-addresses.js';

/** The options of a collector that are settings. */
export function collectorOptions(
  settings: Settings,
): Omit<CollectorOptions, 'bus' | 'log' | 'metrics' | 'clock' | 'accounts'> {
  const { collectorName, shard, requestsPerSecond, requestTimeoutMs, subscriptionsPerConnection, silenceMs } = settings;
  const { historyPeriod, historyDays, rawFeeds } = settings;
  return {
    topics: settings,
    folder: join(settings.data, 'collector'),
    name: collectorName,
    shard,
    addresses: exchangeAddresses(settings),
    requestsPerSecond,
    requestTimeoutMs,
    subscriptionsPerConnection,
    silenceMs,
    schedules: Object.fromEntries(SCHEDULES.map((name) => [name, settings[`${name}Schedule`]])) as SchedulePatterns,
    historyPeriod,
    historyDays,
    rawFeeds,
  };
}
