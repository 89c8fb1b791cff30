import type { FileServer } from '../file-server.js';

/** Rows of one query for which another one has no equal row. */
export interface Unmatched {
  readonly rows: number;
  /** The smallest `row` of them. */
  readonly first: number;
}

/**
 * Compares the rows of two queries, in bounded memory.
 * @param left SELECT of `row`, from 1, and `hash`
 * @param right SELECT of `hash`
 */
export async function unmatchedRows(
  server: FileServer,
  left: string,
  right: string,
  signal: AbortSignal,
): Promise<Unmatched | undefined> {
  const [found] = await server.source.rows<Unmatched>(
    `SELECT toUInt64(count()) AS rows, toUInt64(min(first_row)) AS first FROM
     (
       SELECT hash, min(if(row = 0, 18446744073709551615, row)) AS first_row
       FROM (SELECT toUInt64(row) AS row, hash FROM (${left}) UNION ALL SELECT toUInt64(0) AS row, hash FROM (${right}))
       GROUP BY hash HAVING countIf(row = 0) = 0
     )
     SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1, max_bytes_before_external_group_by = 100000000`,
    signal,
  );
  return found && found.rows > 0 ? found : undefined;
}
