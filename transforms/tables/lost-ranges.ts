import { text, u64 } from './column-types.js';
import { column, rowLogTable } from './row-table.js';

/** Records that were gone from the bus before they were processed, and that somebody agreed to lose. */
export interface LostRangeRow {
  /** First and last offset of the lost records; the row's own place is the last one. */
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly cause: string;
}

export const lostRanges = rowLogTable<LostRangeRow>({
  name: 'lost_ranges',
  severalTopics: true,
  columns: [
    column('first_offset', u64, (row) => row.firstOffset),
    column('last_offset', u64, (row) => row.lastOffset),
    column('cause', text, (row) => row.cause),
  ],
});
