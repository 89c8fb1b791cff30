import { formatDaysLeft, STORE_LESS } from '../format.js';
import type { PartitionLag } from './lag.js';
import type { Quality } from './quality.js';
import type { ServiceStatus } from './services.js';
import type { TableSize } from './tables.js';

/** What the estimate uses of a status report. */
interface Recorded {
  readonly reportedAt: string;
  readonly services: readonly ServiceStatus[];
  readonly bus: readonly PartitionLag[] | null;
  readonly tables: readonly TableSize[] | null;
  readonly quality: Quality | null;
  readonly disk: {
    readonly bus: number;
    readonly clickhouse: number;
    readonly exchange: number;
    readonly free: number;
  };
}

/** `status` and `doctor` warn below this. */
export const FEW_DAYS = 3;
const SECONDS_PER_HOUR = 3600;
/** A collector begins with the history of every market, and empty tables take space: no estimate before. */
const MIN_SECONDS = 600;
const SECONDS_PER_DAY = 86_400;

/**
 * Days until the disk of the data folder is full at the present rate: the records of the last hour, or since the collector
 * started, at the disk space that a record has taken so far on the bus, in ClickHouse and in the simulated exchange.
 * Retention, which removes old records, is not considered. Null when no collector has run for 10 minutes, or nothing was
 * recorded.
 */
export function daysLeft({ services, reportedAt, bus, tables, quality, disk }: Recorded): number | null {
  const collector = services.find(({ service }) => service === 'collect');
  const recorded = tables?.find(({ name }) => name === 'raw_records')?.rows ?? 0;
  if (!collector || recorded === 0 || !quality) return null;
  const runningSeconds = (Date.parse(reportedAt) - Date.parse(collector.startedAt)) / 1000;
  if (runningSeconds < MIN_SECONDS) return null;
  const seconds = Math.min(SECONDS_PER_HOUR, runningSeconds);
  const perSecond = quality.delays.reduce((sum, { records }) => sum + records, 0) / seconds;
  const onBus = (bus ?? []).reduce((sum, { begin, end }) => sum + end - begin, 0);
  const bytes = (disk.clickhouse + disk.exchange) / recorded + (onBus === 0 ? 0 : disk.bus / onBus);
  return perSecond === 0 || bytes === 0 ? null : disk.free / (perSecond * bytes * SECONDS_PER_DAY);
}

/** The problem that `status` shows for a disk that is soon full; none for null. */
export const fewDaysProblems = (days: number | null): string[] =>
  days !== null && days < FEW_DAYS ? [`disk: ${formatDaysLeft(days)}; ${STORE_LESS}`] : [];
