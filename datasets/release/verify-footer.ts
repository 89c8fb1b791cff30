import type { FileServer } from '../file-server.js';
import { fileRows } from '../inspect.js';
import type { Scan } from '../scan.js';
import { quoted, text } from '../sql-text.js';
import type { TableSchema } from '../statement.js';
import type { Damage } from './damage.js';

/** Columns by which readers skip rows first: the one that leads the sort order, and the time. */
export function boundedColumns({ sort_order: order, time, columns }: TableSchema): string[] {
  const isNullable = (name: string) => columns.find((own) => own.name === name)?.type.startsWith('Nullable');
  return [...new Set([...order.slice(0, 1), ...time.slice(0, 1)])].filter((name) => !isNullable(name));
}

/**
 * Finds columns whose bounds in the footer of a file differ from the values in its pages: by the bounds in the footer, readers skip
 * rows. The smallest and the greatest value of all pages are looked up with the footer. The lookup must find all of their rows.
 * @param scan with the bounds of the bounded columns
 */
export async function footerDamages(
  server: FileServer,
  path: string,
  schema: TableSchema,
  { rows, bounds }: Scan,
  signal: AbortSignal,
): Promise<Damage[]> {
  if (rows === 0) return [];
  const damages: Damage[] = [];
  for (const [number, column] of boundedColumns(schema).entries()) {
    const type = schema.columns.find(({ name }) => name === column)?.type ?? '';
    const { min, min_rows, max, max_rows } = bounds[number] ?? { min: '', min_rows: 0, max: '', max_rows: 0 };
    const rowsWith = (value: string) =>
      `(SELECT count() FROM ${fileRows(`${server.folder}/${path}`, schema)} WHERE ${quoted(column)} = CAST(${text(value)}, ${text(type)}))`;
    const [found] = await server.source.rows<{ min_rows: number; max_rows: number }>(
      `SELECT toUInt64(assumeNotNull(${rowsWith(min)})) AS min_rows, toUInt64(assumeNotNull(${rowsWith(max)})) AS max_rows`,
      signal,
    );
    if (found?.min_rows === min_rows && found.max_rows === max_rows) continue;
    damages.push({ path, column, what: 'has other bounds in the footer of the file than in its pages' });
  }
  return damages;
}
