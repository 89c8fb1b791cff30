import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../core/index.js';
import { chancery, commandLine, MAIN } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { recordInstance } from './recorded.js';

const newFolder = () => join(temporaryFolder(), 'out');
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.gz'))
    .sort();
const linesOf = (folder: string, path: string) =>
  gunzipSync(readFileSync(join(folder, path)))
    .toString('utf8')
    .trimEnd()
    .split('\n');

/** Microseconds of a second of 2026-01-04. */
const at = (second: number) => String(Date.UTC(2026, 0, 4, 12, 0, second) * 1000);
const MARKET = 'rain, "maybe"/ü';
const SYMBOL = 'rain%2C%20%22maybe%22%2F%C3%BC';

type Tick = readonly [
  offset: number,
  second: number,
  bid: number | null,
  ask: number | null,
  source?: 'snapshot' | 'delta',
  repeated?: true,
];

/** An initial snapshot, changes of one side, lost records between offsets 3 and 5, and a new connection. */
const TICKS: readonly Tick[] = [
  [0, 0, 0.4, 0.6, 'snapshot'],
  [0, 1, 0.41, 0.6],
  [1, 2, 0.41, null],
  [1, 3, 0.41, null, 'delta', true],
  [3, 4, 0.42, 0.5],
  [5, 5, 0.42, 0.5],
  [6, 6, null, 0.5, 'snapshot'],
];

describe('chancery export --format tardis-csv', () => {
  const server = useClickHouse();
  const select = <T>(sql: string) => server.clickhouse.rows<T>(sql);
  beforeAll(async () => {
    await recordInstance(server.clickhouse);
    const [{ log } = { log: '' }] = await select<{ log: string }>('SELECT any(_log) AS log FROM chancery.price_ticks');
    const insert = (table: string, rows: readonly object[]) =>
      server.clickhouse.run(
        `INSERT INTO chancery.${table} SETTINGS date_time_input_format = 'best_effort' FORMAT JSONEachRow ${rows.map((row) => JSON.stringify(row)).join('\n')}`,
      );
    const ticks = TICKS.map(([_offset, second, bid, ask, source = 'delta', repeated = false], number) => ({
      ...{ _log: log, _partition: 0, _offset, _index: 5000 + number, event: 'e9', market: MARKET, last: 0.5, bid, ask },
      ...{ received_at: `2026-01-04T12:00:0${second}Z`, source, repeated },
    }));
    await insert('price_ticks', ticks);
    const lost = { _topic: 'chancery.order-book', _log: log, _offset: 4, first_offset: 4, last_offset: 4 };
    await insert('lost_ranges', [{ ...lost, cause: 'test', ends_at: '2026-01-04T12:00:05Z' }]);
    const trade = {
      received_at: '2026-01-04T12:00:30Z',
      user_id: 'user-secret-1',
      username: 'ann-secret',
      market: 'm1',
    };
    const fill = { side: 'BUY', quantity: '2.5', price: '0.3', executed_at: '2026-01-04T12:00:10Z', position: 'YES' };
    await insert('activity_records', [
      { ...trade, ...fill, trade_record_id: 'a' },
      { ...trade, ...fill, trade_record_id: 'b', position: 'NO', received_at: '2026-01-04T12:00:20Z' },
      { ...trade, ...fill, trade_record_id: 'c', position: 'NO', side: 'SELL', executed_at: '2026-01-04T12:00:09Z' },
      { ...trade, ...fill, trade_record_id: 'd', side: '' },
      { ...trade, ...fill, trade_record_id: 'e', position: '' },
      { ...trade, ...fill, trade_record_id: 'f', market: '' },
    ]);
  });
  const args = (out: string, more: readonly string[]) => [
    ...['export', '--data', server.clickhouse.dataFolder, '--out', out, '--format', 'tardis-csv', ...more],
  ];
  const run = (out: string, ...more: string[]) => commandLine(args(out, more));

  it('writes one file per data type, finished day and market, and says what it leaves out', async () => {
    const out = newFolder();
    const { code, out: said } = await run(out);
    expect(code).toBe(0);
    const days = ['2026-01-04', '2026-01-05'];
    const ofTicks = (type: string) =>
      days.flatMap((day, index) =>
        ['m0', 'm1', 'm2', 'm3', ...(index === 0 ? [SYMBOL] : [])].map(
          (symbol) => `${type}/chancery_${type}_${day}_${symbol}.csv.gz`,
        ),
      );
    const ofTrades = ['m0', 'm1'].map((symbol) => `trades/chancery_trades_2026-01-04_${symbol}.csv.gz`);
    expect(filesOf(out)).toEqual([...ofTicks('incremental_book_L2'), ...ofTicks('quotes'), ...ofTrades]);
    expect(said).toContain('left out 2026-01-04: 2 trades without a market, an outcome, a time or an amount\n');
    const all = filesOf(out).flatMap((path) => linesOf(out, path).slice(1));
    expect(said).toContain(`: 20 files, ${all.length.toLocaleString('en-US')} rows, `);
    for (const secret of ['user-secret-1', 'ann-secret']) expect(all.join('\n')).not.toContain(secret);
  });

  it('has every change of best bid and best ask as a quote, with an empty field for a missing side', async () => {
    const out = newFolder();
    await run(out, '--tables', 'quotes', '--to', '2026-01-04');
    const quote = (second: number, ask: string, bid: string) =>
      `chancery,${SYMBOL},${at(second)},${at(second)},${ask && 1},${ask},${bid},${bid && 1}`;
    expect(linesOf(out, `quotes/chancery_quotes_2026-01-04_${SYMBOL}.csv.gz`)).toEqual([
      'exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount',
      quote(0, '0.6', '0.4'),
      quote(1, '0.6', '0.41'),
      quote(2, '', '0.41'),
      quote(4, '0.5', '0.42'),
      quote(5, '0.5', '0.42'),
      quote(6, '0.5', ''),
    ]);
    const counts = await select<{ market: string; rows: number }>(
      "SELECT market, count() AS rows FROM chancery.price_ticks WHERE toDate(received_at) = '2026-01-04' AND NOT repeated AND market LIKE 'm%' GROUP BY market",
    );
    for (const { market, rows } of counts) {
      expect(linesOf(out, `quotes/chancery_quotes_2026-01-04_${market}.csv.gz`)).toHaveLength(Number(rows) + 1);
    }
  });

  it('has the book as snapshots, removed levels and new levels', async () => {
    const out = newFolder();
    await run(out, '--tables', 'incremental_book_L2', '--to', '2026-01-04', '--exchange-name', 'rain-market');
    const line = (second: number, isSnapshot: boolean, level: string) =>
      `rain-market,${SYMBOL},${at(second)},${at(second)},${isSnapshot},${level}`;
    expect(linesOf(out, `incremental_book_L2/rain-market_incremental_book_L2_2026-01-04_${SYMBOL}.csv.gz`)).toEqual([
      'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount',
      line(0, true, 'bid,0.4,1'),
      line(0, true, 'ask,0.6,1'),
      line(1, false, 'bid,0.4,0'),
      line(1, false, 'bid,0.41,1'),
      line(2, false, 'ask,0.6,0'),
      line(4, false, 'bid,0.41,0'),
      line(4, false, 'bid,0.42,1'),
      line(4, false, 'ask,0.5,1'),
      // Records were lost before it.
      line(5, true, 'bid,0.42,1'),
      line(5, true, 'ask,0.5,1'),
      line(6, false, 'bid,0.42,0'),
      line(6, true, 'bid,0,0'),
      line(6, true, 'ask,0.5,1'),
    ]);
    const [first, second] = linesOf(
      out,
      'incremental_book_L2/rain-market_incremental_book_L2_2026-01-04_m0.csv.gz',
    ).slice(1);
    expect([first, second].map((text) => text?.split(',')[4])).toEqual(['true', 'true']);
  });

  it('has the fills of all users in YES terms, in the order of receipt', async () => {
    const out = newFolder();
    await run(out, '--tables', 'trades');
    const line = (executed: number, received: number, fields: string) =>
      `chancery,m1,${at(executed)},${at(received)},${fields}`;
    expect(linesOf(out, 'trades/chancery_trades_2026-01-04_m1.csv.gz')).toEqual([
      'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
      line(10, 20, 'b,sell,0.7,2.5'),
      line(9, 30, 'c,buy,0.7,2.5'),
      line(10, 30, 'a,buy,0.3,2.5'),
      line(10, 30, 'd,unknown,0.3,2.5'),
    ]);
  });

  it('resumes after kill -9 with the same bytes in the end', async () => {
    const whole = newFolder();
    expect((await chancery(args(whole, []))).code).toBe(0);
    const killed = newFolder();
    for (let files = 0; files < 20; files += 5) {
      const child = spawn(process.execPath, [MAIN, ...args(killed, [])], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      await until(() => child.exitCode !== null || (existsSync(killed) && filesOf(killed).length > files));
      child.kill('SIGKILL');
      await ended;
    }
    expect((await chancery(args(killed, []))).code).toBe(0);
    const hashes = (folder: string) =>
      filesOf(folder).map((path) => [path, sha256Hex(readFileSync(join(folder, path)))]);
    expect(hashes(whole)).toHaveLength(20);
    expect(hashes(killed)).toEqual(hashes(whole));
  });

  it('refuses options and tables that it does not have', async () => {
    const out = newFolder();
    const refused = async (...more: string[]) => (await run(out, ...more)).err;
    expect(await refused('--accounts', 'main-account')).toBe(
      'chancery: tardis-csv has no records of accounts: --accounts needs another --format\n',
    );
    expect(await refused('--tables', 'price_ticks')).toBe(
      'chancery: price_ticks is not an exported table: they are quotes, trades, incremental_book_L2\n',
    );
    expect(await refused('--exchange-name', 'a,b')).toMatch(
      /it must be lower case letters, digits and -, like chancery/,
    );
    expect(await refused('--release', 'rain@1')).toBe(
      'chancery: a release has Parquet files: --release needs --format parquet\n',
    );
    const { err } = await commandLine(['export', '--data', 'x', '--out', out, '--exchange-name', 'x']);
    expect(err).toBe('chancery: --exchange-name needs --format tardis-csv\n');
  });
});
