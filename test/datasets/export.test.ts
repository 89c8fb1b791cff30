import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { recordInstance, SECRETS } from './recorded.js';

const newFolder = () => join(temporaryFolder(), 'out');

/** Content of every file below a folder, by its path in it. */
function contentOf(folder: string): Record<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(folder, path))]));
}

const dataFiles = (folder: string) => Object.keys(contentOf(folder)).filter((path) => path !== 'export-state.json');

const rowsOf = (folder: string, path: string) =>
  readFileSync(join(folder, path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('chancery export', () => {
  const server = useClickHouse();
  beforeAll(() => recordInstance(server.clickhouse));
  const args = (out: string, more: readonly string[]) => [
    ...['export', '--data', server.clickhouse.dataFolder, '--out', out, '--candle-periods', '3600'],
    ...more,
  ];
  const run = (out: string, ...more: string[]) => commandLine(args(out, more));
  const select = <T>(sql: string) => server.clickhouse.rows<T>(sql);

  it('writes one file per public table and finished day, up to the committed offsets', async () => {
    const out = newFolder();
    const { code, out: said } = await run(out, '--format', 'jsonl');
    expect(code).toBe(0);
    expect(dataFiles(out)).toEqual([
      'activity_records/2026-01-04.jsonl',
      'candles/2026-01-04.jsonl',
      'candles/2026-01-05.jsonl',
      'chance_points/2026-01-04.jsonl',
      'chance_points/2026-01-05.jsonl',
      'collector_events/2026-01-04.jsonl',
      'collector_events/2026-01-05.jsonl',
      'coverage/2026-01-04.jsonl',
      'coverage/2026-01-05.jsonl',
      'event_observations/2026-01-04.jsonl',
      'market_observations/2026-01-04.jsonl',
      'polls/2026-01-04.jsonl',
      'price_ticks/2026-01-04.jsonl',
      'price_ticks/2026-01-05.jsonl',
      'raw_records/2026-01-04.jsonl',
    ]);
    expect(said.split('\n')[0]).toMatch(new RegExp(`^${out}: 15 files, [0-9,]+ rows, ${bytesOf(out)} bytes$`));
    expect(rowsOf(out, 'candles/2026-01-04.jsonl')[0]).toMatchObject({ period_seconds: 3600, market: 'm0', ticks: 83 });
    const ranges = rowsOf(out, 'coverage/2026-01-05.jsonl');
    expect(ranges.map(({ table, event, state }) => `${table} ${event} ${state}`)).toEqual([
      'activity_records e0 unknown',
      'activity_records e1 unknown',
      'chance_points e0 unknown',
      'chance_points e1 unknown',
      'event_observations e0 unknown',
      'event_observations e1 unknown',
      'market_observations e0 unknown',
      'market_observations e1 unknown',
      'price_ticks e0 unknown',
      'price_ticks e1 unknown',
    ]);
    // The event was listed in the first second of a search of three seconds, which is the only one.
    const searched = rowsOf(out, 'coverage/2026-01-04.jsonl').filter(
      ({ table, event }) => table === 'event_observations' && event === 'e0',
    );
    const midnight = '2026-01-05T00:00:00.000000Z';
    expect(searched.map(({ state, cause, begins_at, ends_at }) => [state, cause, begins_at, ends_at])).toEqual([
      ['unknown', 'not yet listed', '2026-01-04T00:00:00.000000Z', '2026-01-04T00:00:01.000000Z'],
      ['observed', '', '2026-01-04T00:00:01.000000Z', '2026-01-04T00:00:03.000000Z'],
      ['unknown', 'no complete poll', '2026-01-04T00:00:03.000000Z', midnight],
    ]);
    expect(rowsOf(out, 'collector_events/2026-01-05.jsonl')).toMatchObject([{ type: 'session-stopped', cause: '' }]);
    const ticks = rowsOf(out, 'price_ticks/2026-01-05.jsonl');
    expect(ticks).toHaveLength(8000);
    expect(ticks[0]).toEqual({
      ...{ _log: expect.stringMatching(/^[0-9a-f-]{36}$/), _partition: 0, _offset: 4, _index: 0 },
      ...{ received_at: '2026-01-05T00:00:00.000000Z', event: 'e0', market: 'm0', last: 0.47, bid: 0.4, ask: 0.6 },
      ...{ source: 'delta', repeated: false },
    });
    const order = ticks.map((row) => `${row.market} ${row.received_at}`);
    expect(order).toEqual([...order].sort());
  });

  it('leaves out days that are not finished, and says why', async () => {
    const out = newFolder();
    await server.clickhouse.run(
      `INSERT INTO chancery.chance_points (_log, _offset, received_at, occurred_at, market, source)
       SELECT _log, 0, now64(6), now64(6), 'm0', 'change' FROM chancery.chance_points LIMIT 1`,
    );
    const { out: said } = await run(out, '--tables', 'chance_points,price_ticks');
    expect(said).toMatch(/^left out \d{4}-\d\d-\d\d: the day is not over$/m);
    const all = newFolder();
    expect((await run(all, '--tables', 'chance_points', '--unfinished')).out).toMatch(/: 3 files, 3 rows/);
    await server.clickhouse.run(
      "ALTER TABLE chancery.chance_points DELETE WHERE event = '' SETTINGS mutations_sync = 1",
    );
    const waiting = newFolder();
    const hours = String(24 * 365 * 100);
    const none = await run(waiting, '--finished-after-hours', hours, '--tables', 'price_ticks', '--release', 'a@1');
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^chancery: there are no rows for a release \(2026-01-04: it ended less than [^\n]+\); --unfinished exports days [^\n]+\n$/,
      ),
    });
    expect((await run(waiting, '--finished-after-hours', hours, '--tables', 'price_ticks')).out).toMatch(
      new RegExp(
        `: 0 files, 0 rows, 0 bytes\\nleft out 2026-01-04: it ended less than ${hours} h ago \\(--finished-after-hours\\), and history may still be fetched\\n[^]*` +
          '\\nnothing was exported: --unfinished also exports days that are not finished\\n$',
      ),
    );
  });

  it('exports the selected days, events, markets, categories and tags', async () => {
    const markets = async (...more: string[]) => {
      const out = newFolder();
      const { code, err } = await run(out, '--format', 'jsonl', '--tables', 'price_ticks', ...more);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      const files = dataFiles(out);
      return [files.length, ...new Set(files.flatMap((path) => rowsOf(out, path).map(({ market }) => market)))];
    };
    expect(await markets('--from', '2026-01-05')).toEqual([1, 'm0', 'm1', 'm2', 'm3']);
    expect(await markets('--to', '2026-01-04', '--event', 'e1')).toEqual([1, 'm3']);
    expect(await markets('--market', 'm0,m3')).toEqual([2, 'm0', 'm3']);
    expect(await markets('--category', 'weather', '--market', 'm2,m3')).toEqual([2, 'm2']);
    expect(await markets('--tag', 'critics')).toEqual([2, 'm3']);
  });

  it('names neither accounts nor users, unless --accounts does, and never a user', async () => {
    const out = newFolder();
    await run(out, '--format', 'csv');
    for (const [path, content] of Object.entries(contentOf(out))) {
      for (const secret of SECRETS) expect(content.includes(secret), `${path} has ${secret}`).toBe(false);
    }
    const own = newFolder();
    await run(own, '--format', 'jsonl', '--accounts', 'main-account');
    expect(rowsOf(own, 'trade_records/2026-01-04.jsonl')).toMatchObject([{ account: 'main-account', quantity: '1.5' }]);
    expect(rowsOf(own, 'polls/2026-01-04.jsonl').map(({ operation }) => operation)).toContain('trades');
    const [, user, username, , apiKey] = SECRETS;
    const hidden = [user, username, apiKey].flatMap((secret) =>
      Object.entries(contentOf(own)).flatMap(([path, content]) => (content.includes(secret) ? [path] : [])),
    );
    expect(hidden).toEqual([]);
    const [activity] = rowsOf(own, 'activity_records/2026-01-04.jsonl');
    expect(activity).toMatchObject({
      user_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      executed_at: expect.anything(),
    });
    expect(rowsOf(own, 'trade_records/2026-01-04.jsonl')[0]?.user_id).toBe(activity?.user_id);
  });

  it('writes the same values as Parquet, CSV and JSON lines, and the same bytes again', async () => {
    const expected = await select<{ hash: string }>(
      hashOf('chancery.price_ticks', "WHERE toDate(received_at) = '2026-01-04'"),
    );
    const formats = { parquet: 'Parquet', csv: 'CSVWithNames', jsonl: 'JSONEachRow' };
    for (const [format, name] of Object.entries(formats)) {
      const [once, twice] = [newFolder(), newFolder()];
      for (const out of [once, twice]) await run(out, '--format', format, '--tables', 'price_ticks');
      const file = `price_ticks/2026-01-04.${format}`;
      expect(readFileSync(join(once, file)).equals(readFileSync(join(twice, file)))).toBe(true);
      expect(await readBack(readFileSync(join(once, file)), name)).toEqual(expected);
    }
  });

  /** Loads a file into a table of its own. */
  async function readBack(content: Buffer, format: string): Promise<{ hash: string }[]> {
    await server.clickhouse.run(
      'CREATE OR REPLACE TABLE chancery.read_back AS chancery.price_ticks SETTINGS allow_suspicious_low_cardinality_types = 1',
    );
    const { url, user, password } = server.clickhouse.endpoint.owner;
    const query = encodeURIComponent(`INSERT INTO chancery.read_back FORMAT ${format}`);
    const response = await fetch(`${url}/?date_time_input_format=best_effort&query=${query}`, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password.reveal() },
      body: new Uint8Array(content),
    });
    expect(await response.text()).toBe('');
    const result = await select<{ hash: string }>(hashOf('chancery.read_back'));
    await server.clickhouse.run('DROP TABLE chancery.read_back');
    return result;
  }

  it('refuses in one line what it cannot do', async () => {
    const out = newFolder();
    const refused = async (...more: string[]) => {
      const { code, err } = await run(out, ...more);
      return `${code} ${err}`;
    };
    expect(await refused('--tables', 'price_tick')).toBe(
      '2 chancery: price_tick is not an exported table (did you mean price_ticks?)\n',
    );
    expect(await refused('--tables', 'trade_records')).toMatch(
      /^2 chancery: trade_records is not an exported table [^\n]+\n$/,
    );
    expect(await refused('--from', '2026-02-30')).toMatch(
      /^2 chancery: --from is "2026-02-30": it must be a day, like 2026-01-31; try --help\n$/,
    );
    expect(await refused('--event', 'nothing')).toBe(
      '2 chancery: no recorded market matches --event, --market, --category and --tag\n',
    );
    expect(await refused('--accounts', 'nobody')).toBe(
      '2 chancery: nothing was recorded of account nobody: recorded are main-account\n',
    );
    expect((await run(out, '--tables', 'polls')).code).toBe(0);
    expect(await refused('--tables', 'audits')).toBe(
      `2 chancery: ${out} has another export (of other options or another instance); choose another folder with --out\n`,
    );
    const other = temporaryFolder();
    writeFileSync(join(other, 'file'), '');
    const { err } = await run(other);
    expect(err).toBe(
      `chancery: ${other} is not empty and has no export-state.json; choose another folder with --out\n`,
    );
  });
});

const hashOf = (table: string, where = '') =>
  `SELECT toString(groupBitXor(cityHash64(_log, _offset, _index, received_at, event, market, last, ifNull(bid, -1), ask, source))) AS hash FROM ${table} ${where}`;

const bytesOf = (folder: string) =>
  dataFiles(folder)
    .reduce((sum, path) => sum + statSync(join(folder, path)).size, 0)
    .toLocaleString('en-US');
