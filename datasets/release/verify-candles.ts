import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Damage } from './damage.js';
import type { ManifestFile } from './manifest.js';
import { unmatchedRows } from './unmatched-rows.js';

const VALUES = `period_seconds, market, toUnixTimestamp64Micro(begins_at), open, high, low, close, ifNull(bid, -1), ifNull(ask, -1), toUInt64(ticks)`;

/** Candles that the ticks of their day do not make, and ticks without a candle, of finished days. */
export async function candleDamages(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const { path, day, unfinished } of files.filter(({ table }) => table === 'candles')) {
    const ticks = files.find((file) => file.table === 'price_ticks' && file.day === day);
    if (!ticks || unfinished) continue;
    const from = (file: string) => `file(${text(`${server.folder}/${file}`)}, Parquet)`;
    // A period that is not within the day has ticks of another one.
    const candles = `SELECT rowNumberInAllBlocks() + 1 AS row, * FROM ${from(path)}`;
    const own = `SELECT row, sipHash128(${VALUES}) AS hash FROM (${candles}) WHERE 86400 % period_seconds = 0`;
    const made = `SELECT toUInt64(1) AS row, sipHash128(${VALUES}) AS hash FROM (${madeOf(from(ticks.path), from(path))})`;
    const wrong = await unmatchedRows(server, own, made, signal);
    if (wrong) {
      const what = `is not what ${ticks.path} has (${wrong.rows} candles)`;
      damages.push({ path, row: wrong.first, what });
      continue;
    }
    const missing = await unmatchedRows(server, made, own, signal);
    if (missing) damages.push({ path, what: `has no candle of ${missing.rows} periods with ticks in ${ticks.path}` });
  }
  return damages;
}

/** Candles of the ticks of a day, of the periods that a file of candles has. */
const madeOf = (ticks: string, candles: string): string => `
  SELECT
    toUInt32(period) AS period_seconds, market,
    toDateTime64(intDiv(toUnixTimestamp(received_at), period) * period, 6, 'UTC') AS begins_at,
    argMin(last, position) AS open, max(last) AS high, min(last) AS low, argMax(last, position) AS close,
    argMax(tuple(bid), position).1 AS bid, argMax(tuple(ask), position).1 AS ask, count() AS ticks
  FROM (SELECT *, (received_at, _offset, _index) AS position FROM ${ticks} WHERE NOT repeated AND last NOT IN (0, 1))
  ARRAY JOIN assumeNotNull((SELECT groupUniqArray(period_seconds) FROM ${candles} WHERE 86400 % period_seconds = 0)) AS period
  GROUP BY period, market, begins_at`;
