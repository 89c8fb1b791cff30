import { TOPICS } from '../../core/index.js';
import { micros, text, u32 } from './column-types.js';
import { column, type RowColumn, rowReplacingTable } from './row-table.js';

/** Where and when an entry of a polled list was received. */
export interface Listing {
  /** Unix microseconds. */
  readonly receivedAt: number;
  /** UUID of the poll. */
  readonly poll: string;
  /** When the session first listed it in this state and hour, Unix microseconds: `receivedAt` for the first listing. */
  readonly unchangedFrom: number;
  /** Number of the entry in its response, from 1, for the first listing; 0 for later ones: only the last of them counts. */
  readonly entry: number;
}

/** The columns of the listing. */
export const LISTING_COLUMNS: readonly RowColumn<Listing>[] = [
  column('received_at', micros, (row: Listing) => row.receivedAt),
  column('poll_id', text, (row: Listing) => row.poll),
  column('unchanged_from', micros, (row: Listing) => row.unchangedFrom),
  column('entry', u32, (row: Listing) => row.entry),
];

/**
 * Defines the table of a polled list: of the listings of an entry in one state, in one hour and session, the first and the
 * last are stored.
 * @param key the column with the entry's ID
 */
export function listingTable<Row extends Listing>(name: string, key: string, columns: readonly RowColumn<Row>[]) {
  return rowReplacingTable<Row>({
    name,
    // If a later listing has replaced the last one before the positions, the first one of that state is written.
    exported: { topics: [TOPICS.reference], time: ['received_at'], order: [key, 'received_at'], bounded: true },
    onEveryShardFor: TOPICS.reference,
    feedsMaterializedViews: true,
    id: [key, 'unchanged_from', 'entry'],
    version: 'received_at',
    columns: [...LISTING_COLUMNS, ...columns],
  });
}
