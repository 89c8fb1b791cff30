import { formatDaysLeft, STORE_LESS } from '../format.js';
import type { PartitionLag } from './lag.js';
import type { Quality } from './quality.js';
import type { ServiceStatus } from './services.js';
import type { TableSize } from './tables.js';

/** What the estimate uses of a status report. */
interface Recorded {
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
/** A collector begins with the history of every market, and empty tables take space: no estimate before. */
const MIN_SECONDS = 600;
const SECONDS_PER_DAY = 86_400;

/**
 * Days until the disk of the data folder is full at the present rate: the records of the last hour per second in which a
 * collector ran, at the disk space that a record has taken so far on the bus, in ClickHouse and in the simulated exchange.
 * Retention, which removes old records, is not considered. Null when no collector runs, or when it ran for less than
 * 10 minutes of the last hour.
 */
export function daysLeft({ services, bus, tables, quality, disk }: Recorded): number | null {
  const recorded = tables?.find(({ name }) => name === 'raw_records')?.rows ?? 0;
  if (!services.some(({ service }) => service === 'collect') || recorded === 0) return null;
  if (!quality || quality.recordedSeconds < MIN_SECONDS) return null;
  const perSecond = quality.delays.reduce((sum, { records }) => sum + records, 0) / quality.recordedSeconds;
  const onBus = (bus ?? []).reduce((sum, { begin, end }) => sum + end - begin, 0);
  const bytes = (disk.clickhouse + disk.exchange) / recorded + (onBus === 0 ? 0 : disk.bus / onBus);
  return perSecond === 0 || bytes === 0 ? null : disk.free / (perSecond * bytes * SECONDS_PER_DAY);
}

/** The problem that `status` shows for a disk that is soon full; none for null. */
export const fewDaysProblems = (days: number | null): string[] =>
  days !== null && days < FEW_DAYS ? [`disk: ${formatDaysLeft(days)}; ${STORE_LESS}`] : [];
