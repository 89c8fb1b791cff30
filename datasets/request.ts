import { UsageError } from '../core/index.js';
import type { ExportFormat } from './formats.js';

/** What to export. */
export interface ExportRequest {
  readonly format: ExportFormat;
  /** Names of tables; absent: all. */
  readonly tables?: readonly string[] | undefined;
  /** First and last UTC day, `2026-01-31`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** IDs; names of categories and tags. A market must match each kind of filter that is given. */
  readonly events?: readonly string[] | undefined;
  readonly markets?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Names of accounts whose own records are written too. */
  readonly accounts?: readonly string[] | undefined;
  /** Lengths of candles, seconds. */
  readonly candlePeriods: readonly number[];
  /** Days that are not finished, too. */
  readonly unfinished: boolean;
  /** A day is finished this long after its end, hours. */
  readonly settleHours: number;
}

/** @throws UsageError for a text that is not a day */
export function assertDay(day: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(day)) return day;
  throw new UsageError(`${day} is not a day; write it like 2026-01-31`);
}
