import { appendFileSync, cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileServer } from '../../datasets/file-server.js';
import { damageLine, verifyDataset } from '../../datasets/index.js';
import { FileInspector } from '../../datasets/inspect.js';
import type { Manifest } from '../../datasets/release/manifest.js';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { forgeFile } from './forge.js';
import { recordInstance } from './recorded.js';

const TICKS = 'price_ticks/2026-01-04.parquet';
const { signal } = new AbortController();

describe('chancery dataset verify', () => {
  const server = useClickHouse();
  const original = join(temporaryFolder(), 'release');
  const copies = temporaryFolder();
  let reader: FileServer;
  beforeAll(async () => {
    await recordInstance(server.clickhouse);
    const tables = 'price_ticks,chance_points,coverage,collector_events,polls,lost_ranges';
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', original, '--release', 'rain@1'];
    expect((await commandLine([...args, '--tables', tables, '--simulated'])).code).toBe(0);
    reader = await FileServer.start({ folder: copies, unconfined: false }, signal);
  });

  afterAll(() => reader?.close());

  const copy = () => {
    const folder = temporaryFolder(copies);
    cpSync(original, folder, { recursive: true });
    return folder;
  };
  const verify = (folder: string, ...more: string[]) => commandLine(['dataset', 'verify', folder, ...more]);
  const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;

  /** The lines about damages. */
  async function damages(folder: string, ...more: string[]): Promise<string[]> {
    const { code, out } = await verify(folder, ...more);
    expect(code).toBe(1);
    const lines = out.split('\n').slice(2, -2);
    expect(out).toContain(`\ndamaged: ${lines.length} damage`);
    return lines;
  }

  it('accepts a release as it was made, and names its manifest', async () => {
    const { manifest_sha256: hash } = manifestOf(original);
    const start = `rain@1, data of a simulated exchange\nSHA-256 of the manifest: ${hash}\n`;
    expect((await verify(original)).out).toBe(`${start}9 files, 16,033 rows: verified\n`);
    const quick = await verify(original, '--checksums-only', '--manifest-sha256', hash.toUpperCase());
    expect(quick).toMatchObject({ code: 0, out: `${start}9 files, 16,033 rows: checksums are right\n` });
  });

  it('refuses another manifest, a changed one, and a folder without one', async () => {
    const { manifest_sha256: hash } = manifestOf(original);
    const other = '1'.repeat(64);
    expect(await verify(original, '--manifest-sha256', other)).toMatchObject({
      ...{ code: 2, err: `chancery: ${original} has the manifest ${hash}, not ${other}\n` },
    });
    const folder = copy();
    const path = join(folder, 'manifest.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"rows": 8000', '"rows": 8001'));
    expect((await verify(folder)).err).toMatch(
      /^chancery: [^\n]+manifest\.json was changed: its hash is [0-9a-f]{64}, and it says [0-9a-f]{64}\n$/,
    );
    expect((await verify(temporaryFolder())).err).toMatch(
      /^chancery: [^\n]+ has no manifest\.json: it is not a release, [^\n]+\n$/,
    );
  });

  it('names files that are missing, truncated, changed or too many, by the checksums alone', async () => {
    const folder = copy();
    const path = (name: string) => join(folder, name);
    rmSync(path('polls/2026-01-04.parquet'));
    truncateSync(path('chance_points/2026-01-04.parquet'), 100);
    const bytes = readFileSync(path(TICKS));
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    writeFileSync(path(TICKS), bytes);
    writeFileSync(path('price_ticks/2026-01-06.parquet'), '');
    appendFileSync(path('README.md'), 'x');
    const size = statSync(join(original, 'chance_points/2026-01-04.parquet')).size;
    expect(await damages(folder, '--checksums-only')).toEqual([
      'polls/2026-01-04.parquet: is missing',
      'price_ticks/2026-01-06.parquet: is not in the manifest',
      'README.md: does not have the SHA-256 of SHA256SUMS',
      `${TICKS}: does not have the SHA-256 of SHA256SUMS`,
      `chance_points/2026-01-04.parquet: has 100 bytes instead of ${size}`,
    ]);
    const lines = await damages(folder);
    expect(lines).toContain(
      'chance_points/2026-01-04.parquet: cannot be read: Not a Parquet file (wrong magic bytes at the end of file)',
    );
    const flipped = lines.filter((line) => line.startsWith(TICKS));
    expect(flipped).toEqual([
      `${TICKS}: does not have the SHA-256 of SHA256SUMS`,
      expect.stringMatching(/: has content_sha256 \w+ instead of \w+$/),
      expect.stringMatching(/, column \w+, row 1: the bytes of rows 1 to 8000 are not those that were written$/),
    ]);
  });

  async function forge(path: string, query: string): Promise<string> {
    const folder = copy();
    await forgeFile(reader.below(folder), path, query);
    expect((await verify(folder, '--checksums-only')).code).toBe(0);
    return folder;
  }

  const ORDER = 'market, received_at, _log, _partition, _offset, _index';
  const numbered = '(SELECT rowNumberInAllBlocks() + 1 AS r, * FROM FILE)';

  it.each([
    [
      'rows in another order',
      TICKS,
      `SELECT * EXCEPT r FROM ${numbered} ORDER BY toInt64(if(r IN (5, 6), 11 - toInt64(r), toInt64(r)))`,
      [`${TICKS}, row 6: is not in the sort order ${ORDER}`],
    ],
    [
      'a row twice',
      TICKS,
      `SELECT * EXCEPT (r, twice) FROM ${numbered} ARRAY JOIN range(if(r = 7, 2, 1)) AS twice ORDER BY r`,
      [`${TICKS}, row 8: has the same ${ORDER} as the row before it`],
    ],
    [
      'a row of another day',
      TICKS,
      'SELECT * REPLACE (if(r = 2000, received_at + toIntervalDay(1), received_at) AS received_at) EXCEPT r FROM (SELECT rowNumberInAllBlocks() + 1 AS r, * FROM FILE) ORDER BY r',
      [`${TICKS}, row 2000: has a received_at outside of 2026-01-04`],
    ],
    ['a column less', TICKS, 'SELECT * EXCEPT ask FROM FILE', [`${TICKS}, column ask: is missing`]],
    [
      'another type',
      TICKS,
      'SELECT * REPLACE (toFloat32(last) AS last) FROM FILE',
      [`${TICKS}, column last: has the type Float32 instead of Float64`],
    ],
    [
      'a state that does not exist',
      'coverage/2026-01-04.parquet',
      "SELECT * REPLACE ('fine' AS state) FROM FILE",
      ['coverage/2026-01-04.parquet, column state, row 1: is none of observed, backfilled, missing, unknown'],
    ],
    [
      'a gap that is called observed',
      'coverage/2026-01-04.parquet',
      "SELECT * REPLACE ('observed' AS state, '' AS cause, begins_at + (table = 'price_ticks') AS begins_at) FROM FILE WHERE table IN ('price_ticks', 'chance_points')",
      [
        'coverage/2026-01-04.parquet, column begins_at, row 3: is observed, but in collector_events/2026-01-04.parquet no subscription of the event begins then',
      ],
    ],
    [
      'a search that did not end, of which its range is observed',
      'polls/2026-01-04.parquet',
      "SELECT * REPLACE ('incomplete' AS outcome) FROM FILE",
      ['coverage/2026-01-04.parquet, column state, row 6: is observed, but no complete polls cover the range'],
    ],
    [
      'polled data that is unknown although there is a complete search',
      'coverage/2026-01-04.parquet',
      "SELECT * REPLACE ('unknown' AS state, if(cause = '', 'no complete poll', cause) AS cause) FROM FILE",
      ['coverage/2026-01-04.parquet, column state, row 6: is unknown, but complete polls cover a part of the range'],
    ],
  ])('finds %s, although checksums and figures fit', async (_, path, query, expected) => {
    const folder = await forge(path, query);
    const options = { folder, checksumsOnly: false, unconfined: false, server: reader.below(folder) };
    expect((await verifyDataset(options, signal)).damages.map(damageLine)).toEqual(expected);
  });

  it('looks for no record of rows about accounts, whose records no release has', async () => {
    await server.clickhouse.run(`
      INSERT INTO chancery.balance_observations (_log, _offset, received_at, account, poll_id, asset)
      SELECT any(_log), 1, '2026-01-04 10:00:00', 'main-account', 'p', 'a' FROM chancery.activity_records`);
    const release = join(temporaryFolder(copies), 'release');
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', release, '--release', 'rain@3'];
    const accounts = ['--accounts', 'main-account', '--include-private'];
    expect((await commandLine([...args, ...accounts, '--tables', 'balance_observations,raw_records'])).code).toBe(0);
    const files = manifestOf(release).files.map(({ path }) => path);
    expect(files.toSorted()).toEqual(['balance_observations/2026-01-04.parquet', 'raw_records/2026-01-04.parquet']);
    const { out } = await verify(release);
    expect(out).toContain('rain@3');
    expect(out).not.toContain('balance_observations');
  });

  it('accepts a release without lost records of accounts: a poll of which some were lost is incomplete', async () => {
    const { run } = server.clickhouse;
    const insert = (table: string, logOf: string, values: string, columns: string) =>
      run(
        `INSERT INTO chancery.${table} (_log, _offset, ${columns}) SELECT any(_log), 7, ${values} FROM chancery.${logOf}`,
      );
    for (const hour of ['01', '02', '03', '04']) {
      const times = `'2026-01-04 ${hour}:00:00', '2026-01-04 ${hour}:00:01'`;
      await insert(
        'polls',
        'polls',
        `${times}, 's', 'activity', 'complete'`,
        'started_at, finished_at, session_id, operation, outcome',
      );
    }
    await insert(
      'lost_ranges',
      'activity_records',
      "'chancery.account', 1, 2, 'test', 1, '2026-01-04 01:59:50', '2026-01-04 02:00:05'",
      '_topic, first_offset, last_offset, cause, partitions, begins_at, ends_at',
    );
    const release = join(temporaryFolder(copies), 'release');
    const args = [
      'export',
      '--data',
      server.clickhouse.dataFolder,
      '--out',
      release,
      '--release',
      'rain@2',
      '--simulated',
    ];
    expect((await commandLine([...args, '--tables', 'coverage,polls,lost_ranges'])).code).toBe(0);
    const ofTrades = `SELECT DISTINCT toString(begins_at) AS begins, toString(ends_at) AS ends
      FROM file('${release}/coverage/2026-01-04.parquet', Parquet) WHERE table = 'activity_records' AND state = 'observed'`;
    expect(await reader.source.rows(ofTrades, signal)).toEqual([
      { begins: '2026-01-04 03:00:00.000000', ends: '2026-01-04 04:00:00.000000' },
    ]);
    expect((await verify(release)).out).toMatch(/: verified\n$/);
  });

  it.each([
    ['in the order', 'number', { doubtful: 0, fault: undefined }],
    [
      'of which the last of a block is behind the first of the next',
      'multiIf(number = 8191, 8192, number = 8192, 8191, number)',
      { doubtful: 1, fault: { row: 8193, what: 'is not in the sort order _offset' } },
    ],
    [
      'of which the first of a block is the last of the block before it',
      'if(number = 16384, 16383, number)',
      { doubtful: 1, fault: { row: 16_385, what: 'has the same _offset as the row before it' } },
    ],
  ])('scans rows %s, in blocks', async (_, offset, { doubtful, fault }) => {
    const release = reader.below(temporaryFolder(copies));
    const columns = [
      { name: 'at', type: "DateTime64(6, 'UTC')" },
      { name: '_offset', type: 'UInt64' },
    ];
    const query = `SELECT toDateTime64('2026-01-04 12:00:00', 6, 'UTC') AS at, toUInt64(${offset}) AS _offset FROM numbers(20000)`;
    const { body } = await reader.source.result(`${query} FORMAT Parquet`, {}, signal);
    await writeFile(join(release.folder, 'rows.parquet'), body);
    const table = { name: 'rows', columns, sort_order: ['_offset'], time: ['at'], positions: false };
    const inspector = new FileInspector(release, 'rows.parquet', table);
    const checks = { damaged: ['_offset % 5000 = 1'], bounded: ['at'] };
    const scan = await inspector.scan({ ...checks, day: '2026-01-04' }, signal);
    const noon = '2026-01-04 12:00:00.000000';
    expect(scan).toEqual({
      ...{ rows: 20_000, doubtful, damaged: 4, offsets: [], first_at: '1767528000000000', last_at: '1767528000000000' },
      bounds: [{ min: noon, min_rows: 20_000, max: noon, max_rows: 20_000 }],
    });
    expect((await inspector.scan({ ...checks, day: '2026-01-05' }, signal)).doubtful).toBeGreaterThanOrEqual(20_000);
    expect(await inspector.firstFault('2026-01-04', signal)).toEqual(fault);
  });

  it('rejects a result that ends with an error, and the query of none', async () => {
    let bytes = 0;
    const read = (query: string) =>
      reader.bytes(
        query,
        (piece) => {
          bytes += piece.length;
        },
        signal,
      );
    await read('SELECT number FROM numbers(1000000) FORMAT RowBinary');
    expect(bytes).toBe(8_000_000);
    const failing = `SELECT number, throwIf(number = 900000, 'too many') FROM numbers(1000000) FORMAT RowBinary`;
    await expect(read(failing)).rejects.toThrow(/^ClickHouse: .*too many/);
    expect(bytes).toBeGreaterThan(8_000_000);
    const stopped = AbortSignal.timeout(50);
    await expect(
      reader.bytes('SELECT * FROM numbers(1e12) FORMAT RowBinary', () => undefined, stopped),
    ).rejects.toThrow(/timeout/);
    await expect(read('SELECT nothing FORMAT RowBinary')).rejects.toThrow(/^ClickHouse: Code: 47\b.*nothing/);
  });
});
