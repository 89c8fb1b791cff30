import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Damage } from './damage.js';
import type { ManifestFile } from './manifest.js';

/** Rows of `price_ticks` without the frame that they were made of, where the release has the raw records of the day. */
export async function tickDamages(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path, day } of files.filter(({ table }) => table === 'price_ticks')) {
    const raw = files.find((file) => file.table === 'raw_records' && file.day === day);
    if (!raw) continue;
    const from = (file: string) => `file(${text(`${server.folder}/${file}`)}, Parquet)`;
    const [found] = await server.source.rows<{ row: number; damaged: number; column: string }>(
      `SELECT toUInt64(min(number)) AS row, toUInt64(count()) AS damaged, argMin(if(frame_at IS NULL, '_offset', 'received_at'), number) AS column
       FROM
       (
         SELECT rowNumberInAllBlocks() + 1 AS number, _log, _partition, _offset, received_at FROM ${from(path)}
       ) AS ticks
       LEFT JOIN
       (
         SELECT _log, _partition, _offset, toNullable(received_at) AS frame_at FROM ${from(raw.path)} WHERE kind = 'order-book.frame'
       ) AS frames USING (_log, _partition, _offset)
       WHERE frame_at IS NULL OR received_at != toStartOfMillisecond(assumeNotNull(frame_at))
       SETTINGS max_threads = 1, input_format_parquet_preserve_order = 1, join_use_nulls = 1`,
      signal,
    );
    if (!found || found.damaged === 0) continue;
    const { row, column } = found;
    const what = column === '_offset' ? `has no frame in ${raw.path}` : `is not the time of its frame in ${raw.path}`;
    damages.push({ path, column, row, what: `${what} (${found.damaged} rows)` });
  }
  return damages;
}
