import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import { ALL_TABLES, isFromPublicRecords } from '../tables.js';
import type { Damage } from './damage.js';
import type { Manifest, ManifestFile } from './manifest.js';
import { unmatchedRows } from './unmatched-rows.js';

const RECORD = '_log, _partition, _offset';
/** Times of rows may be truncated to milliseconds. */
const MILLISECOND = 'intDiv(toUnixTimestamp64Micro(assumeNotNull(received_at)), 1000)';
/** Bodies whose values can be compared: complete, and not deleted. */
const READABLE = "encoding = 'json' AND pieces = 1 AND body != ''";
const number = (entry: string, field: string) =>
  `toFloat64OrNull(replaceAll(JSONExtractRaw(${entry}, '${field}'), '"', ''))`;
const side = (entry: string, field: string) => `ifNull(nullIf(nullIf(${number(entry, field)}, 0), 1), -1)`;

/** The prices of order book frames: one row per entry, with the number of the frame as `row`. */
const entriesOf = (raw: string) => `
  SELECT row, sipHash128(${RECORD}, JSONExtractString(body, 'e'), JSONExtractString(entry, 'o'), ${number('entry', 'c')},
    ${side('entry', 'b')}, ${side('entry', 'a')}, JSONExtractString(body, 't') = 'PRICES_DATA') AS hash
  FROM (SELECT rowNumberInAllBlocks() + 1 AS row, * FROM ${raw})
  ARRAY JOIN JSONExtractArrayRaw(body, 'd') AS entry
  WHERE kind = 'order-book.frame' AND JSONExtractString(body, 't') IN ('PRICES_DATA', 'PRICES_DATA_DELTA') AND ${READABLE}`;

const ticksOf = (ticks: string, condition = 'true') => `
  SELECT row, sipHash128(${RECORD}, event, market, toNullable(last), ifNull(bid, -1), ifNull(ask, -1), source = 'snapshot') AS hash
  FROM (SELECT rowNumberInAllBlocks() + 1 AS row, * FROM ${ticks}) WHERE ${condition}`;

/** Condition of rows whose record is not among these. */
const notOf = (file: string, condition = 'true') =>
  `sipHash64(${RECORD}) NOT IN (SELECT sipHash64(${RECORD}) FROM ${file} WHERE ${condition})`;

/**
 * Rows that the raw records of their day do not explain, where the release has these.
 * @param explained days whose ticks are the prices of their frames
 */
export async function recordDamages(
  server: FileServer,
  manifest: Manifest,
  files: readonly ManifestFile[],
  explained: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const raw of files.filter(({ table }) => table === 'raw_records')) {
    const ofDay = files.filter(({ day }) => day === raw.day);
    for (const file of ofDay.filter(({ table }) => hasRecords(table))) {
      damages.push(...(await withoutRecord(server, file, raw, signal)));
    }
    if (explained.has(raw.day)) continue;
    const ticks = ofDay.find(({ table }) => table === 'price_ticks');
    if (ticks) damages.push(...(await wrongPrices(server, ticks, raw, signal)));
    const isUnreadable = !ticks && manifest.files.some(({ table, day }) => table === 'price_ticks' && day === raw.day);
    if (isUnreadable || isFiltered(manifest) || !manifest.tables.some(({ name }) => name === 'price_ticks')) continue;
    const letters = ofDay.find(({ table }) => table === 'dead_letters');
    damages.push(...(await missingPrices(server, { raw, ticks, letters }, signal)));
  }
  return damages;
}

const fromOf = (server: FileServer, { path }: ManifestFile) => `file(${text(`${server.folder}/${path}`)}, Parquet)`;

/** Ticks with other prices than their frame. */
async function wrongPrices(
  server: FileServer,
  ticks: ManifestFile,
  raw: ManifestFile,
  signal: AbortSignal,
): Promise<Damage[]> {
  const records = fromOf(server, raw);
  const readable = notOf(records, `kind = 'order-book.frame' AND NOT (${READABLE})`);
  const wrong = await unmatchedRows(server, ticksOf(fromOf(server, ticks), readable), entriesOf(records), signal);
  if (!wrong) return [];
  const what = `has prices that its frame in ${raw.path} does not have (${wrong.rows} rows)`;
  return [{ path: ticks.path, column: 'last', row: wrong.first, what }];
}

interface FilesOfDay {
  readonly raw: ManifestFile;
  readonly ticks: ManifestFile | undefined;
  readonly letters: ManifestFile | undefined;
}

/** Prices of frames that are neither ticks nor in a record with dead letters. */
async function missingPrices(
  server: FileServer,
  { raw, ticks, letters }: FilesOfDay,
  signal: AbortSignal,
): Promise<Damage[]> {
  const understood = letters ? ` AND ${notOf(fromOf(server, letters))}` : '';
  const none = 'SELECT sipHash128(0) AS hash WHERE false';
  const found = ticks ? ticksOf(fromOf(server, ticks)) : none;
  const missing = await unmatchedRows(server, `${entriesOf(fromOf(server, raw))}${understood}`, found, signal);
  if (!missing) return [];
  const path = `price_ticks/${raw.day}.parquet`;
  const what = ticks
    ? `has prices that ${path} does not have (${missing.rows} prices)`
    : `has prices, and there is no ${path} (${missing.rows} prices)`;
  return [{ path: raw.path, column: 'body', row: missing.first, what }];
}

/** Ticks have a check of their own; points of history are of other days than their record. */
const NOT_COMPARED = ['price_ticks', 'chance_history_points'];

/** Whether rows of the table are of one day with the record that they were made of, which a release has. */
const hasRecords = (name: string): boolean =>
  !NOT_COMPARED.includes(name) && ALL_TABLES.some((table) => table.name === name && isFromPublicRecords(table));

/** Rows without a record at their position that was received at the same time. */
async function withoutRecord(
  server: FileServer,
  file: ManifestFile,
  raw: ManifestFile,
  signal: AbortSignal,
): Promise<Damage[]> {
  const rows = (path: string) =>
    `(SELECT rowNumberInAllBlocks() + 1 AS row, * FROM file(${text(`${server.folder}/${path}`)}, Parquet))`;
  const hash = `sipHash128(${RECORD}, ${MILLISECOND}) AS hash`;
  // A point may have been received on another day than that of its time.
  const left = `SELECT row, ${hash} FROM ${rows(file.path)} WHERE toDate(assumeNotNull(received_at), 'UTC') = ${text(raw.day)}`;
  const found = await unmatchedRows(server, left, `SELECT ${hash} FROM ${rows(raw.path)}`, signal);
  if (!found) return [];
  const what = `has no record of its position and received_at in ${raw.path} (${found.rows} positions)`;
  return [{ path: file.path, column: '_offset', row: found.first, what }];
}

/** Whether the release has the rows of some markets only. */
const isFiltered = ({ query }: Manifest): boolean =>
  ['events', 'markets', 'categories', 'tags'].some((name) => query[name] !== undefined);
