import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrowBatches } from '../../datasets/arrow-batches.js';
import { FileServer } from '../../datasets/file-server.js';
import { formatClause, rowCountsOf } from '../../datasets/formats.js';
import { parquetFile } from '../../datasets/parquet-file.js';
import { IN_ORDER } from '../../datasets/scan.js';
import { ExportQueryError } from '../../datasets/source.js';
import { ALL_TABLES } from '../../datasets/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { signal } = new AbortController();
const ROWS = 50_000;
const QUERY = `SELECT toUInt64(number * 3) AS _offset, if(number % 7 = 0, NULL, number / 100) AS price, toString(number % 5) AS name,
  toDateTime64('2026-01-04', 6, 'UTC') + number AS at, range(toUInt64(number % 3)) AS list FROM numbers(${ROWS}) ORDER BY _offset`;
const COLUMNS = [
  { name: '_offset', type: 'UInt64' },
  { name: 'price', type: 'Nullable(Float64)' },
  { name: 'name', type: 'String' },
  { name: 'at', type: "DateTime64(6, 'UTC')" },
  { name: 'list', type: 'Array(UInt64)' },
];
const LAYOUT = { columns: COLUMNS, rowGroup: 20_000, endOffset: 3 * ROWS };
const ROW_COUNTS = { rowGroup: LAYOUT.rowGroup, block: 1250 };

describe('a Parquet file made of an Arrow stream', () => {
  const folder = temporaryFolder();
  let server: FileServer;
  beforeAll(async () => {
    server = await FileServer.start({ folder, unconfined: false }, signal);
  });
  afterAll(() => server?.close());

  const arrow = async (query: string): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for await (const part of await server.source.stream(`${query} ${formatClause('parquet', ROW_COUNTS)}`, {}, signal))
      parts.push(part);
    return Buffer.concat(parts);
  };
  const write = async (result: AsyncIterable<Buffer>, endOffset = LAYOUT.endOffset) => {
    const parts: Buffer[] = [];
    let rows = 0;
    for await (const part of parquetFile(result, { ...LAYOUT, endOffset }, (count) => (rows += count)))
      parts.push(Buffer.from(part));
    return { file: Buffer.concat(parts), rows };
  };
  /** Rows of each, and bytes of the column _offset before compression. */
  const rowGroups = async (name: string) => {
    const [footer] = await server.source.rows<{ groups: { rows: number; offsets: number }[] }>(
      `SELECT arrayMap(g -> CAST((g.num_rows, g.columns[1].total_uncompressed_size), 'Tuple(rows UInt64, offsets UInt64)'), row_groups) AS groups
       FROM file('${server.folder}/${name}', ParquetMetadata)`,
      signal,
    );
    return footer?.groups ?? [];
  };
  const cut = async function* (bytes: Buffer, size: number) {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  };

  it('has the rows, types and encodings of the query, in whatever pieces it arrives', async () => {
    const stream = await arrow(QUERY);
    const { file, rows } = await write(cut(stream, stream.length));
    expect(rows).toBe(ROWS);
    for (const size of [11, 4096, 100_003]) expect((await write(cut(stream, size))).file.equals(file)).toBe(true);
    writeFileSync(join(folder, 'rows.parquet'), file);
    const path = `'${server.folder}/rows.parquet', Parquet`;
    const described = await server.source.rows<{ type: string }>(`DESCRIBE file(${path})`, signal);
    expect(described.map(({ type }) => type)).toEqual(COLUMNS.map(({ type }) => type));
    const hash = (from: string) => `(SELECT groupBitXor(cityHash64(_offset, price, name, at, list, n)) FROM
      (SELECT *, rowNumberInAllBlocks() AS n FROM ${from}))`;
    const [same] = await server.source.rows(
      `SELECT ${hash(`file(${path})`)} = ${hash(`(${QUERY})`)} AS same SETTINGS ${IN_ORDER}`,
      signal,
    );
    expect(same).toEqual({ same: 1 });
    const groups = await rowGroups('rows.parquet');
    expect(groups.map((group) => group.rows)).toEqual([20_000, 20_000, 10_000]);
    // Differences that are all the same; values would have 160,000 bytes.
    expect(groups[0]?.offsets).toBeLessThan(2000);
  });

  it('has values instead of differences that fastparquet might misread', async () => {
    const stream = await arrow(QUERY);
    const { file } = await write(cut(stream, stream.length), 2 ** 27 + 1);
    writeFileSync(join(folder, 'large.parquet'), file);
    expect((await rowGroups('large.parquet'))[0]?.offsets).toBeGreaterThan(100_000);
  });

  it('of raw records has few of their payloads in memory at once', async () => {
    const table = ALL_TABLES.find(({ name }) => name === 'raw_records');
    const query = `SELECT number AS _offset, repeat('payload ', 12500) AS body FROM numbers(200) ORDER BY _offset`;
    const clause = formatClause('parquet', rowCountsOf(table ?? {}));
    const sizes: number[] = [];
    for await (const batch of arrowBatches(await server.source.stream(`${query} ${clause}`, {}, signal)))
      sizes.push(batch.length);
    expect(Math.max(...sizes)).toBeLessThan(7e6);
    expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(20e6);
  });

  it('of no rows has the columns', async () => {
    const { file, rows } = await write(cut(await arrow(`SELECT * FROM (${QUERY}) WHERE _offset < 0`), 1000));
    expect(rows).toBe(0);
    writeFileSync(join(folder, 'none.parquet'), file);
    const [count] = await server.source.rows(
      `SELECT count() AS rows FROM file('${server.folder}/none.parquet')`,
      signal,
    );
    expect(count).toEqual({ rows: 0 });
  });

  it('is not made of a query that fails behind its first rows, or of a result that breaks off', async () => {
    const query = "SELECT throwIf(number = 900000, 'no more rows') AS _offset FROM numbers(1000000)";
    const failing = await server.source.stream(`${query} ${formatClause('parquet')}`, {}, signal);
    await expect(write(failing)).rejects.toThrow(ExportQueryError);
    const stream = await arrow(QUERY);
    await expect(write(cut(stream.subarray(0, -20_000), 4096))).rejects.toThrow('broke off a result');
    const text = Buffer.from('__exception__\r\nabc\r\nCode: 241. Memory limit exceeded\n33 abc\r\n__exception__\r\n');
    await expect(write(cut(Buffer.concat([stream.subarray(0, -8), text]), 4096))).rejects.toThrow(
      /^ClickHouse: Code: 241. Memory limit exceeded$/,
    );
    await expect(write(cut(Buffer.alloc(0), 1))).rejects.toThrow('broke off a result');
  });
});
