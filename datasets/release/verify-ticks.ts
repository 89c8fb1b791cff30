import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Damage } from './damage.js';
import type { ManifestFile } from './manifest.js';
import { unmatchedRows } from './unmatched-rows.js';

const RECORD = '_log, _partition, _offset';
/** Times of ticks are truncated to milliseconds. */
const AT = `${RECORD}, intDiv(toUnixTimestamp64Micro(assumeNotNull(received_at)), 1000)`;

/**
 * Rows of `price_ticks` without the frame that they were made of, where the release has the raw records of the day.
 * @param explained days that need no check
 */
export async function tickDamages(
  server: FileServer,
  files: readonly ManifestFile[],
  explained: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path, day } of files.filter(({ table }) => table === 'price_ticks')) {
    const raw = files.find((file) => file.table === 'raw_records' && file.day === day);
    if (!raw || explained.has(day)) continue;
    const from = (file: string) => `file(${text(`${server.folder}/${file}`)}, Parquet)`;
    const ticks = `(SELECT rowNumberInAllBlocks() + 1 AS row, * FROM ${from(path)})`;
    const frames = `${from(raw.path)} WHERE kind = 'order-book.frame'`;
    const without = (key: string) =>
      unmatchedRows(
        server,
        `SELECT row, sipHash128(${key}) AS hash FROM ${ticks}`,
        `SELECT sipHash128(${key}) AS hash FROM ${frames}`,
        signal,
      );
    const wrong = await without(AT);
    if (!wrong) continue;
    const hasFrame = (await without(RECORD))?.first !== wrong.first;
    const [column, what] = hasFrame
      ? ['received_at', 'is not the time of its frame in']
      : ['_offset', 'has no frame in'];
    damages.push({ path, column, row: wrong.first, what: `${what} ${raw.path} (${wrong.rows} positions)` });
  }
  return damages;
}
