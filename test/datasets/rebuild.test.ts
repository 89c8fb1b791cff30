import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { recordMarkets } from './recorded-markets.js';

/** A collector runs on past midnight, and a chance that is final at the end of the day moves again. */
const TIMES = {
  from: Date.UTC(2026, 0, 4, 21, 10) / 1000,
  to: Date.UTC(2026, 0, 5, 1, 10) / 1000,
  finalAt: Date.UTC(2026, 0, 4, 23, 59, 50) / 1000,
};
/** The collector events after this day decide what was observed at its end. */
const FIRST_DAY = ['--to', '2026-01-04'];

describe('chancery dataset', () => {
  const server = useClickHouse();
  const temporaries = temporaryFolder();
  const folder = (version: string) => join(temporaries, version);

  /** Exports what ClickHouse has as a release of this version. */
  async function release(version: string, ...more: string[]): Promise<string> {
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', folder(version)];
    const { code, err } = await commandLine([...args, '--release', `rain@${version}`, ...more]);
    expect([code, err]).toEqual([0, expect.any(String)]);
    return folder(version);
  }
  const dataset = async (...args: string[]) => {
    const { code, out } = await commandLine(['dataset', ...args]);
    return { code, lines: out.split('\n').filter((line) => line !== '') };
  };

  /** Changes rows of a table in ClickHouse. */
  const change = (table: string, update: string) =>
    server.clickhouse.run(`ALTER TABLE chancery.${table} UPDATE ${update} SETTINGS mutations_sync = 2`);

  beforeAll(async () => {
    await recordMarkets(server.clickhouse, TIMES);
    // A lost range that ends on a day that is not exported.
    await server.clickhouse.run(`
      INSERT INTO chancery.lost_ranges (_topic, _log, _partition, _offset, first_offset, last_offset, cause, partitions, begins_at, ends_at)
      SELECT _topic, any(_log), _partition, 1, 0, 1, 'test', 2, '2026-01-04 23:58:00', '2026-01-05 00:05:00'
      FROM chancery.raw_records WHERE _topic = 'chancery.order-book' GROUP BY _topic, _partition ORDER BY _partition LIMIT 1`);
    await release('1', ...FIRST_DAY);
  });

  it('rebuild makes identical files from the raw records', async () => {
    expect((await dataset('verify', folder('1'))).lines.slice(2)).toEqual([expect.stringMatching(/: verified$/)]);
    const { code, lines } = await dataset('rebuild', folder('1'));
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/^rebuilt from [\d,]+ raw records by transform version \d+$/),
      // The raw records of these are of the next day.
      expect.stringMatching(
        /^chance_history_points\/2026-01-04.parquet: (\d+) rows only in the release, \1 of them without/,
      ),
      expect.stringMatching(/^\d+ files identical, 0 with the same rows in other bytes, 1 different$/),
      expect.stringMatching(/^taken as they are, for a release has no raw records of them: [\w, ]+$/),
    ]);
    expect(code).toBe(0);
  });

  it('diff finds nothing between two exports of the same rows', async () => {
    const other = await release('1.1', ...FIRST_DAY);
    const { code, lines } = await dataset('diff', folder('1'), other);
    expect(lines.slice(2)).toEqual([expect.stringMatching(/^\d+ files with the same rows$/)]);
    expect([code, lines[0]?.slice(0, 9), lines[1]?.slice(0, 11)]).toEqual([0, '- rain@1 ', '+ rain@1.1 ']);
  });

  it('names the file, the number of rows and the first row of a difference that no missing record explains', async () => {
    const [row] = await server.clickhouse.rows<{ at: string }>(
      "SELECT (_partition, _offset, _index)::String AS at FROM chancery.price_ticks WHERE toDate(received_at) = '2026-01-04' ORDER BY received_at LIMIT 1",
    );
    await change('price_ticks', `last = 0.123456 WHERE (_partition, _offset, _index)::String = '${row?.at}'`);
    const forged = await release('2', '--tables', 'price_ticks,raw_records', ...FIRST_DAY);
    const { code, lines } = await dataset('rebuild', forged);
    expect([code, lines.slice(3)]).toEqual([
      1,
      [
        expect.stringMatching(
          /^price_ticks\/2026-01-04\.parquet: 1 row only in the release; 1 row only rebuilt, first row [\d,]+$/,
        ),
        '0 files identical, 0 with the same rows in other bytes, 1 different',
      ],
    ]);
    const diff = await dataset('diff', folder('1'), forged);
    expect([diff.code, diff.lines.filter((line) => /^~|price_ticks|polls/.test(line))]).toEqual([
      1,
      [
        '- polls/2026-01-04.parquet',
        '- polls/2026-01-05.parquet',
        expect.stringMatching(
          /^~ price_ticks\/2026-01-04\.parquet: \d+ rows; -1 row, first row [\d,]+; \+1 row, first row [\d,]+$/,
        ),
      ],
    ]);
  });

  it('explains rows whose raw record has lost its body', async () => {
    const last = "received_at = (SELECT max(received_at) FROM chancery.raw_records WHERE kind = 'order-book.frame')";
    await change('raw_records', `body = '' WHERE kind = 'order-book.frame' AND ${last}`);
    const out = await release('3', '--tables', 'price_ticks,raw_records', '--from', '2026-01-05');
    const { code, lines } = await dataset('rebuild', out);
    expect(lines.slice(3)).toEqual([
      expect.stringMatching(
        /^price_ticks\/2026-01-05\.parquet: (\d+) rows? only in the release, \1 of them without a raw record in the release; 0 rows only rebuilt/,
      ),
      '0 files identical, 0 with the same rows in other bytes, 1 different',
    ]);
    expect(code).toBe(0);
  });

  it('refuses a release without raw records, and one folder too many or too few', async () => {
    const out = await release('4', '--tables', 'price_ticks');
    const commands = [
      ['rebuild', out],
      ['diff', out],
      ['verify', out, out],
      ['diff', out, out, '--checksums-only'],
    ];
    const errors: [number | null, string][] = [];
    for (const args of commands) {
      const { code, err } = await commandLine(['dataset', ...args]);
      errors.push([code, err]);
    }
    expect(errors).toEqual([
      [2, 'chancery: rain@4 has no raw records, so its tables cannot be rebuilt\n'],
      [2, 'chancery: `dataset diff` takes two folders\n'],
      [2, 'chancery: `dataset verify` takes one folder\n'],
      [2, 'chancery: --checksums-only and --manifest-sha256 are options of `dataset verify`\n'],
    ]);
  });
});
