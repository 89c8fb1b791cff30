import { z } from 'zod';
import { EXPORT_FORMATS } from './formats.js';

const names = z.array(z.string()).readonly().optional();

/** What to export; a manifest has it as `query`. */
export const exportRequestSchema = z.object({
  format: z.enum(EXPORT_FORMATS),
  /** Names of tables; absent: all. */
  tables: names,
  /** First and last UTC day, `2026-01-31`. */
  from: z.string().optional(),
  to: z.string().optional(),
  /** IDs; names of categories and tags. A market must match each kind of filter that is given. */
  events: names,
  markets: names,
  categories: names,
  tags: names,
  /** Names of accounts whose own records are written too. */
  accounts: names,
  /** Lengths of candles, seconds. */
  candlePeriods: z.array(z.number().int().positive()).readonly(),
  /** Days that are not finished, too. */
  unfinished: z.boolean(),
  /** A day is finished this long after its end, hours. */
  finishedAfterHours: z.number(),
  /** In the lines and names of `tardis-csv`. */
  exchangeName: z.string().optional(),
});
export type ExportRequest = Readonly<z.infer<typeof exportRequestSchema>>;

/** Whether a text is a day, like 2026-01-31. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
