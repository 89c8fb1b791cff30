import type { TopicOptions } from '../../bus/index.js';
import { type CollectorOptions, SCHEDULES, type SchedulePatterns } from '../../collectors/index.js';
import { exchangeAddresses, type Settings } from '../../core/index.js';
import type { WorkerConfig } from '../../transforms/index.js';
import { instancePaths } from './instance.js';

const MS_PER_HOUR = 3_600_000;

/** The options of a collector that are settings. */
export function collectorOptions(
  settings: Settings,
): Omit<CollectorOptions, 'bus' | 'log' | 'metrics' | 'clock' | 'accounts'> {
  const { collectorName, shard, requestsPerSecond, requestTimeoutMs, subscriptionsPerConnection, silenceMs } = settings;
  const { historyPeriod, historyDays, rawFeeds } = settings;
  return {
    topics: topicOptions(settings),
    folder: instancePaths(settings.data).collector,
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

/** The options of a transform worker that are settings. */
export const workerOptions = (settings: Settings): WorkerConfig => ({
  group: settings.group,
  acceptLoss: settings.acceptLoss,
  batchRows: settings.batchRows,
  batchDelayMs: settings.batchDelayMs,
  bodyDays: settings.keepBodies ? settings.bodyRetentionDays : 0,
  usernameKey: settings.usernameKey,
  topics: topicOptions(settings),
});

const topicOptions = (settings: Settings): TopicOptions => ({
  partitions: settings.busPartitions,
  retentionMs: settings.busRetentionHours * MS_PER_HOUR,
  retentionBytes: settings.busRetentionBytes,
});
