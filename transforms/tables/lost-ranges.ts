import { micros, nullable, text, u32, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** Records that were lost before they had rows, and whose loss was accepted. */
export interface LostRangeRow {
  /** First and last offset of the lost records; the row has the position of the last one. */
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly cause: string;
  /** Number of partitions of the topic. */
  readonly partitions: number;
  /** Unix microseconds; null: unknown. */
  readonly beginsAt: number | null;
  /** Unix microseconds. */
  readonly endsAt: number;
}

export const lostRanges = rowLogTable<LostRangeRow>({
  name: 'lost_ranges',
  severalTopics: true,
  columns: [
    column('first_offset', u64, (row) => row.firstOffset),
    column('last_offset', u64, (row) => row.lastOffset),
    column('cause', text, (row) => row.cause),
    column('partitions', u32, (row) => row.partitions),
    column('begins_at', nullable(micros), (row) => row.beginsAt),
    column('ends_at', micros, (row) => row.endsAt),
  ],
});
