import type { FileServer } from '../file-server.js';
import { IN_ORDER } from '../scan.js';
import { text } from '../sql-text.js';
import { inParallel } from './in-parallel.js';
import type { ManifestFile } from './manifest.js';

/** The columns that ticks and entries of frames have in common, in this order. */
const HASHED = 'event, market, price, best_bid, best_ask, is_snapshot, _log, _partition, _offset, ms';
const FRAME =
  'Tuple(t String, e String, d Array(Tuple(o String, c Nullable(Float64), b Nullable(Float64), a Nullable(Float64))))';

const TICKS = `
  SELECT event, market, _log, _partition, _offset, toNullable(last) AS price, ifNull(bid, -1) AS best_bid, ifNull(ask, -1) AS best_ask, source = 'snapshot' AS is_snapshot,
    intDiv(toUnixTimestamp64Micro(assumeNotNull(received_at)), 1000) AS ms
  FROM FILE`;
/** A side of 0 or 1 is an empty one. */
const ENTRIES = `
  SELECT _log, _partition, _offset, ms, frame.e AS event, entry.o AS market, entry.c AS price,
    ifNull(nullIf(nullIf(entry.b, 0), 1), -1) AS best_bid, ifNull(nullIf(nullIf(entry.a, 0), 1), -1) AS best_ask,
    frame.t = 'PRICES_DATA' AS is_snapshot
  FROM
  (
    SELECT _log, _partition, _offset, intDiv(toUnixTimestamp64Micro(assumeNotNull(received_at)), 1000) AS ms, JSONExtract(body, '${FRAME}') AS frame
    FROM FILE WHERE kind = 'order-book.frame' AND encoding = 'json' AND pieces = 1
  )
  ARRAY JOIN frame.d AS entry
  WHERE frame.t IN ('PRICES_DATA', 'PRICES_DATA_DELTA')`;

/**
 * Days whose ticks are exactly the prices of the order book frames of the day: as many, with equal sums of their hashes. No
 * check has to look for a tick without its frame on these, or for a price without its tick.
 */
export async function explainedDays(
  server: FileServer,
  files: readonly ManifestFile[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const fingerprint = async (rows: string, { path }: ManifestFile) => {
    const from = `file(${text(`${server.folder}/${path}`)}, Parquet)`;
    const [found] = await server.source.rows<{ fingerprint: string }>(
      `SELECT concat(toString(count()), ' ', toString(sum(reinterpretAsUInt128(xxh3_128(${HASHED}))))) AS fingerprint
       FROM (${rows.replace('FILE', from)}) SETTINGS ${IN_ORDER}`,
      signal,
    );
    return found?.fingerprint;
  };
  const pairs = files.flatMap((ticks) => {
    const raw = files.find(({ table, day }) => table === 'raw_records' && day === ticks.day);
    return ticks.table === 'price_ticks' && raw ? [{ ticks, raw }] : [];
  });
  const fingerprints = await inParallel(
    pairs.flatMap(({ ticks, raw }) => [() => fingerprint(TICKS, ticks), () => fingerprint(ENTRIES, raw)]),
  );
  const isExplained = (number: number) => fingerprints[2 * number] === fingerprints[2 * number + 1];
  return new Set(pairs.filter((_, number) => isExplained(number)).map(({ ticks }) => ticks.day));
}
