import type { TopicOptions } from '../../bus/index.js';
import { type CollectorOptions, checkCollectorSettings } from '../../collectors/index.js';
import {
  collectSettings,
  exchangeAddresses,
  loadAccounts,
  type Settings,
  transformSettings,
} from '../../core/index.js';
import type { WorkerConfig } from '../../transforms/index.js';
import { instancePaths } from './instance.js';

const MS_PER_HOUR = 3_600_000;

/** The options of a collector, from the settings. */
export const collectorOptions = (
  settings: Settings,
): Omit<CollectorOptions, 'bus' | 'log' | 'metrics' | 'clock' | 'accounts'> => ({
  settings: collectSettings(settings),
  topics: topicOptions(settings),
  folder: instancePaths(settings.data).collector,
  addresses: exchangeAddresses(settings),
  requestTimeoutMs: settings.requestTimeoutMs,
});

/** Throws when a collector cannot start with these settings: before anything is created. */
export function checkCollector(settings: Settings): void {
  checkCollectorSettings(collectSettings(settings), exchangeAddresses(settings));
  loadAccounts(settings);
}

/** The options of a transform worker, from the settings. */
export const workerOptions = (settings: Settings): WorkerConfig => ({
  ...transformSettings(settings),
  topics: topicOptions(settings),
});

const topicOptions = (settings: Settings): TopicOptions => ({
  partitions: settings.busPartitions,
  retentionMs: settings.busRetentionHours * MS_PER_HOUR,
  retentionBytes: settings.busRetentionBytes,
});
