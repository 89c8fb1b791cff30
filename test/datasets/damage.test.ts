import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileServer } from '../../datasets/file-server.js';
import { damageLine, verifyDataset } from '../../datasets/index.js';
import { explainedDays } from '../../datasets/release/explained-days.js';
import type { Manifest } from '../../datasets/release/manifest.js';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { forgeFile, forgeFooter, forgeManifest, readManifestOf } from './forge.js';
import { recordMarkets } from './recorded-markets.js';

const DAY = '2026-01-05';
const CHECKSUMS_ONLY = true;
const { signal } = new AbortController();
const pathOf = (table: string) => `${table}/${DAY}.parquet`;

/** SELECT of a file in which a column of one row has another value. */
const changed = (column: string, value: string, row: string | number = 1) =>
  `SELECT * REPLACE (if(r = ${row}, ${value}, ${column}) AS ${column}) EXCEPT r FROM (SELECT rowNumberInAllBlocks() + 1 AS r, * FROM FILE) ORDER BY r`;
/** SELECT of a file without the rows of a condition. */
const without = (condition: string) => `SELECT * FROM FILE WHERE NOT (${condition})`;
/** The number of the first row with a condition. */
const first = (condition: string) =>
  `(SELECT minIf(n, ${condition}) FROM (SELECT rowNumberInAllBlocks() + 1 AS n, * FROM FILE))`;

/** Each is the damage, its table, the query of the damaged file, and the damage that verify finds. */
const FORGED: readonly (readonly [damage: string, table: string, query: string, found: RegExp])[] = [
  ['a price above 1', 'price_ticks', changed('last', '1.5'), /column last, row 1: is not from 0 to 1$/],
  [
    'another price',
    'price_ticks',
    changed('last', 'if(last = 0.5, 0.51, 0.5)', 3),
    /column last, row \d+: has prices that its frame in raw_records\/2026-01-05\.parquet does not have \(1 rows\)$/,
  ],
  [
    'another bid',
    'price_ticks',
    changed('bid', 'toNullable(0.015)', first('bid IS NOT NULL')),
    /column last, row \d+: has prices that its frame/,
  ],
  [
    'a bid that was none',
    'price_ticks',
    changed('bid', 'toNullable(0.01)', first('bid IS NULL')),
    /column last, row \d+: has prices that its frame/,
  ],
  [
    'a bid of 0',
    'price_ticks',
    changed('bid', 'toNullable(0.)'),
    /column bid, row 1: is neither NULL nor between 0 and 1$/,
  ],
  [
    'a change that is called a snapshot',
    'price_ticks',
    changed('source', "'snapshot'", first("source = 'delta'")),
    /column last, row \d+: has prices that its frame/,
  ],
  [
    'an unknown source',
    'price_ticks',
    changed('source', "'guess'"),
    /column source, row 1: is none of snapshot, delta$/,
  ],
  [
    'a repeated snapshot',
    'price_ticks',
    changed('repeated', 'true', first("source = 'snapshot'")),
    /column repeated, row \d+: is true of a snapshot$/,
  ],
  [
    'ticks that are missing',
    'price_ticks',
    without("market LIKE 'm1-%' AND _offset % 5 = 0"),
    /^raw_records\/2026-01-05\.parquet, column body, row \d+: has prices that price_ticks\/2026-01-05\.parquet does not have/,
  ],
  [
    'a time with microseconds',
    'price_ticks',
    changed('received_at', 'addMicroseconds(received_at, 1)'),
    /column received_at, row 1: is not a whole millisecond$/,
  ],
  [
    'a tick of another log',
    'price_ticks',
    changed('_log', "concat(_log, 'x')"),
    /column _log, row 1: is none of the manifest$/,
  ],
  [
    'a tick of another event',
    'price_ticks',
    changed('event', "'other'"),
    /column last, row \d+: has prices that its frame/,
  ],
  [
    'another frame',
    'raw_records',
    changed(
      'body',
      `'{"t":"PRICES_DATA_DELTA","e":"e","d":[]}'`,
      first("kind = 'order-book.frame' AND body LIKE '%PRICES%'"),
    ),
    /column body, row \d+: does not have body_bytes bytes$/,
  ],
  [
    'a record less',
    'raw_records',
    without("kind = 'chance.frame' AND _offset % 7 = 0"),
    /^chance_points\/2026-01-05\.parquet, column _offset, row \d+: has no record of its position and received_at/,
  ],
  [
    'a piece that does not exist',
    'raw_records',
    changed('piece', 'toUInt16(3)'),
    /column piece, row 1: is not below pieces$/,
  ],
  [
    'another time of a record',
    'raw_records',
    changed('received_at', 'addSeconds(received_at, 1)', first("kind = 'reference.events'")),
    /^event_observations\/2026-01-05\.parquet, column _offset, row \d+: has no record of its position/,
  ],
  ['a chance above 1', 'chance_points', changed('chance', '1.01'), /column chance, row 1: is not from 0 to 1$/],
  [
    'a chance between two seconds',
    'chance_points',
    changed('occurred_at', 'addMilliseconds(occurred_at, 500)'),
    /column occurred_at, row 1: is not a whole second$/,
  ],
  [
    'a dead letter of no record',
    'dead_letters',
    changed('_offset', 'toUInt64(_offset - 1)', first("kind = 'order-book.frame'")),
    /column _offset, row \d+: has no record of its position/,
  ],
  ['a dead letter without a reason', 'dead_letters', changed('reason', "''"), /column reason, row 1: is empty$/],
  ['an event that no record has', 'event_observations', changed('_offset', '_offset + 1'), /column _offset, row \d+: /],
  [
    'a market with another time',
    'market_observations',
    changed('received_at', 'addSeconds(received_at, 2)'),
    /column _offset, row \d+: has no record of its position/,
  ],
  [
    'a candle with another close',
    'candles',
    changed('close', '(close + low) / 2 + 0.0001', first('ticks > 1 AND close < high')),
    /row \d+: is not what price_ticks\/2026-01-05\.parquet has \(1 candles\)$/,
  ],
  ['a candle with more ticks', 'candles', changed('ticks', 'ticks + 1'), /row 1: is not what price_ticks/],
  [
    'a candle less',
    'candles',
    without("period_seconds = 3600 AND market LIKE 'm1-%'"),
    /^candles\/2026-01-05\.parquet: has no candle of \d+ periods with ticks in price_ticks/,
  ],
  [
    'a candle whose high is too low',
    'candles',
    changed('high', 'low - 0.001'),
    /column high, row 1: is not the highest of open, high, low and close$/,
  ],
  [
    'a candle that was more than complete',
    'candles',
    changed('observed', 'observed + 0.5'),
    /column missing, row 1: does not add up to 1/,
  ],
  [
    'a collector event twice',
    'collector_events',
    changed('sequence', 'toUInt64(2)', 5),
    /column sequence, row \d+: is that of another event of the session$/,
  ],
  [
    'a poll that ended before it began',
    'polls',
    changed('finished_at', 'subtractSeconds(started_at, 1)'),
    /column finished_at, row 1: is before started_at$/,
  ],
  [
    'a poll with another outcome',
    'polls',
    changed('outcome', "'fine'"),
    /column outcome, row 1: is none of complete, incomplete, failed$/,
  ],
  [
    'an audit with more mismatches than markets',
    'audits',
    changed('mismatches', 'toUInt32(compared + 1)'),
    /column mismatches, row 1: is greater than compared$/,
  ],
  [
    'a mismatch without a difference',
    'audit_mismatches',
    'SELECT * REPLACE (our_last AS their_last, our_bid AS their_bid, our_ask AS their_ask) FROM FILE',
    /column their_last, row 1: is equal to the recorded price/,
  ],
  [
    'coverage that begins earlier',
    'coverage',
    changed(
      'begins_at',
      'addSeconds(begins_at, -1)',
      first("table = 'price_ticks' AND state = 'observed' AND begins_at != toStartOfDay(begins_at)"),
    ),
    /column begins_at, row \d+: is before the end of the previous range/,
  ],
  [
    'coverage that leaves a period out',
    'coverage',
    changed(
      'begins_at',
      'addSeconds(begins_at, 1)',
      first("table = 'price_ticks' AND state = 'observed' AND begins_at != toStartOfDay(begins_at)"),
    ),
    /column begins_at, row \d+: is behind the end of the previous range/,
  ],
  [
    'a gap that is called observed',
    'coverage',
    "SELECT * REPLACE (if(state = 'missing', 'observed', state) AS state, if(state = 'missing', '', cause) AS cause) FROM FILE",
    /column begins_at, row \d+: is observed, but in collector_events\/2026-01-05\.parquet no subscription/,
  ],
  [
    'observed time that is called unknown',
    'coverage',
    changed('state', "'unknown'", first("state = 'observed' AND table = 'price_ticks'")),
    /column state, row \d+: is not called observed, but in collector_events/,
  ],
  [
    'backfilled prices',
    'coverage',
    "SELECT * REPLACE (if(state = 'missing' AND table = 'price_ticks', 'backfilled', state) AS state, '' AS cause) FROM FILE",
    /column state, row \d+: is backfilled, but only chances have a history$/,
  ],
  [
    'a cause of what is not missing',
    'coverage',
    changed('cause', "'none'", first("state = 'observed'")),
    /column cause, row \d+: is of a range that is not missing$/,
  ],
  [
    'coverage of another table',
    'coverage',
    changed('table', "'ticks'"),
    /column table, row 1: is none of price_ticks, chance_points, event_observations, market_observations, activity_records$/,
  ],
];

type Forged = (typeof FORGED)[number];

/** The damages in groups, one group per release: each of another table, and not both of candles and of their ticks. */
function releases(): (readonly [string, readonly Forged[]])[] {
  const subject = ([, table]: Forged) => (table === 'candles' ? 'price_ticks' : table);
  const subjects = [...new Set(FORGED.map(subject))];
  const bySubject = subjects.map((name) => FORGED.filter((damage) => subject(damage) === name));
  return Array.from({ length: Math.max(...bySubject.map(({ length }) => length)) }, (_, n) => {
    const damages = bySubject.flatMap((of) => of.slice(n, n + 1));
    return [damages.map(([damage]) => damage).join(', '), damages];
  });
}

describe('chancery dataset verify, of a release whose checksums and figures fit', () => {
  const server = useClickHouse();
  const original = join(temporaryFolder(), 'release');
  const copies = temporaryFolder();
  let reader: FileServer;
  beforeAll(async () => {
    const { clickhouse } = server;
    await recordMarkets(clickhouse);
    const args = ['export', '--data', clickhouse.dataFolder, '--out', original, '--release', 'rain@1', '--from', DAY];
    expect((await commandLine(args)).code).toBe(0);
    reader = await FileServer.start({ folder: copies, unconfined: false }, signal);
  });
  afterAll(() => reader?.close());

  const copy = () => {
    const folder = temporaryFolder(copies);
    cpSync(original, folder, { recursive: true });
    return reader.below(folder);
  };
  const damagesOf = async (server: FileServer, checksumsOnly = false) => {
    const options = { folder: server.folder, checksumsOnly, unconfined: false, server };
    return (await verifyDataset(options, signal)).damages.map(damageLine);
  };

  it('accepts it as it was made', async () => {
    const { code, out } = await commandLine(['dataset', 'verify', original]);
    expect([code, out.split('\n').slice(2)]).toEqual([0, [expect.stringMatching(/: verified$/), '']]);
  });

  it('calls a day explained whose ticks are the prices of its frames, and none with another price', async () => {
    const release = copy();
    const explained = () => explainedDays(release, readManifestOf(release.folder).files, signal);
    const letters = `SELECT _log, _partition, _offset FROM file('${release.folder}/${pathOf('dead_letters')}', Parquet)`;
    for (const table of ['price_ticks', 'raw_records']) {
      await forgeFile(release, pathOf(table), without(`(_log, _partition, _offset) IN (${letters})`));
    }
    expect([...(await explained())]).toEqual([DAY]);
    await forgeFile(release, pathOf('price_ticks'), changed('last', 'if(last = 0.5, 0.51, 0.5)', 3));
    expect([...(await explained())]).toEqual([]);
  });

  it.each(releases())('finds %s', async (_, damages) => {
    const release = copy();
    for (const [, table, query] of damages) await forgeFile(release, pathOf(table), query);
    expect(await damagesOf(release, CHECKSUMS_ONLY)).toEqual([]);
    const found = await damagesOf(release);
    for (const [, , , line] of damages) expect(found).toContainEqual(expect.stringMatching(line));
  });

  it('finds a footer with other bounds than the pages', async () => {
    const release = copy();
    forgeFooter(release.folder, pathOf('price_ticks'), 'm0-', 'm1-');
    expect(await damagesOf(release, CHECKSUMS_ONLY)).toEqual([]);
    const damage = 'column market: has other bounds in the footer of the file than in its pages';
    expect(await damagesOf(release)).toContain(`${pathOf('price_ticks')}, ${damage}`);
  });

  it('accepts coverage of an unfinished day that is newer than the exported collector events', async () => {
    const release = copy();
    const newer = "type = 'subscribed' AND event LIKE '%7'";
    await forgeFile(release, pathOf('collector_events'), without(newer));
    const damage = /no subscription of the event begins then/;
    expect(await damagesOf(release)).toContainEqual(expect.stringMatching(damage));
    const manifest = readManifestOf(release.folder);
    for (const file of manifest.files) file.unfinished = true;
    forgeManifest(release.folder, { ...manifest, unfinished_days: manifest.days });
    expect(await damagesOf(release)).toEqual([]);
  });

  it('finds a file that was removed with its line in the manifest', async () => {
    const { folder } = copy();
    const manifest = readManifestOf(folder);
    rmSync(join(folder, pathOf('price_ticks')));
    manifest.files = manifest.files.filter(({ table }) => table !== 'price_ticks');
    for (const table of manifest.tables) if (table.name === 'price_ticks') table.rows = 0;
    forgeManifest(folder, manifest);
    expect((await commandLine(['dataset', 'verify', folder, '--checksums-only'])).code).toBe(0);
    const { code, out } = await commandLine(['dataset', 'verify', folder]);
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(
        /\nraw_records\/2026-01-05\.parquet, column body, row \d+: has prices, and there is no price_ticks\/2026-01-05\.parquet \(\d+ prices\)\n/,
      ),
    ]);
  });

  it.each<[string, (manifest: Manifest) => void, string]>([
    [
      'more rows of a table',
      ({ tables }) => Object.assign(tables[0] ?? {}, { rows: 1 }),
      'manifest.json: has 1 rows of price_ticks, and its files have ',
    ],
    ['a day less', ({ days }) => days.pop(), 'manifest.json: has other days than its files: 2026-01-05'],
    [
      'a day that was not finished',
      ({ unfinished_days }) => unfinished_days.push(DAY),
      'manifest.json: has other unfinished_days than its files: none',
    ],
    [
      'less missing time',
      ({ coverage }) =>
        coverage.splice(
          coverage.findIndex(({ state }) => state === 'missing'),
          1,
        ),
      'manifest.json: has other coverage than the files of coverage',
    ],
    [
      'a longer stretch without a gap',
      ({ replay_segments: segments }) => Object.assign(segments[0] ?? {}, { seconds: 86_400 }),
      'manifest.json: has other replay_segments than the files of coverage',
    ],
    [
      'fewer records that were read',
      ({ positions }) => {
        for (const position of positions) position.end = 1;
      },
      'price_ticks/2026-01-05.parquet, column _offset, row 1: is not below the offset up to which records were read',
    ],
  ])('finds a manifest with %s', async (_, damage, found) => {
    const release = copy();
    const manifest = readManifestOf(release.folder);
    damage(manifest);
    forgeManifest(release.folder, manifest);
    expect(await damagesOf(release, CHECKSUMS_ONLY)).toEqual([]);
    expect(await damagesOf(release)).toContainEqual(expect.stringContaining(found));
  });
});
