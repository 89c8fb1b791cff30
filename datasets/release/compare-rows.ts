import type { FileServer } from '../file-server.js';
import { fileRows } from '../inspect.js';
import { IN_ORDER } from '../scan.js';
import type { TableSchema } from '../statement.js';

/** Rows of one file that another one does not have. */
export interface MoreRows {
  readonly rows: number;
  /** The first of them, from 1; undefined without one. */
  readonly first: number | undefined;
}

/**
 * The rows of the first file that the second one does not have. Files with the same columns only.
 * @param files absolute paths
 */
export async function rowsOnlyIn(
  server: FileServer,
  schema: TableSchema,
  files: readonly [string, string],
  signal: AbortSignal,
): Promise<MoreRows> {
  // Concatenated values would be ambiguous: RowBinary has the length of each text.
  const columns = schema.columns.map(({ name }) => `\`${name}\``).join(', ');
  const hash = `sipHash128(formatRow('RowBinary', ${columns})) AS hash`;
  const [own, other] = files.map((path) => fileRows(path, schema));
  const [found] = await server.source.rows<{ rows: number; first: number }>(
    `SELECT toUInt64(count()) AS rows, toUInt64(min(row)) AS first
     FROM (SELECT rowNumberInAllBlocks() + 1 AS row, ${hash} FROM ${own})
     WHERE hash NOT IN (SELECT ${hash} FROM ${other})
     SETTINGS ${IN_ORDER}`,
    signal,
  );
  return { rows: found?.rows ?? 0, first: found && found.rows > 0 ? found.first : undefined };
}
