import { beforeAll, describe, expect, it } from 'vitest';
import { expandQuery, relativeRange, type VariableChoice } from '../../viewer/index.js';
import { loadDashboards, panelsOf } from '../dashboards/shipped-dashboards.js';
import { useDatabase } from '../support/database.js';
import { ago, searchPoll, tick, time, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

beforeAll(() => {
  data = new WarehouseData(host.database);
});

/** The statement of a panel's first query, from 12:00 to 12:10 in intervals of 20 seconds. */
function statementOf(uid: string, title: string, variables = new Map<string, VariableChoice>()): string {
  const panels = loadDashboards().flatMap((one) => (one.uid === uid ? panelsOf(one) : []));
  const sql = panels.find((one) => one.title === title)?.targets[0]?.rawSql;
  if (sql === undefined) throw new Error(`there is no panel ${title}`);
  const range = relativeRange(String(Date.parse(`${time(0)}Z`)), String(Date.parse(`${time(600)}Z`)), new Date());
  return expandQuery(sql, { range, bucketMs: 20_000, variables });
}

describe('what panels of the pipeline ask', () => {
  it('record_delays and record_bodies: the delay of each record, and whether its body is stored', async () => {
    const record = (offset: number, fields: Record<string, unknown>) => ({
      ...{ _topic: 'chancery.bodies', _offset: offset, received_at: time(0), written_at: time(1.5), session_id: 's' },
      ...{ sequence: offset, kind: 'k', encoding: 'json', piece: 0, pieces: 1, request: '', ...fields },
    });
    const later = { body_expires_at: '2100-01-01 00:00:00' };
    await data.insert('raw_records', [
      record(1, { body: '{"a":1}', body_bytes: 7, ...later }),
      record(2, { body: '', body_bytes: 0, ...later }),
      record(3, { body: '', body_bytes: 7, ...later }),
      record(4, { body: '', body_bytes: 7, body_expires_at: '2026-01-06 00:00:00' }),
    ]);
    const of = "topic = 'chancery.bodies' AND log = 'log' AND partition = 0";
    expect(await data.ask(`SELECT offset, body_state, body FROM record_bodies WHERE ${of} ORDER BY offset`)).toEqual([
      { offset: 1, body_state: 'stored', body: '{"a":1}' },
      { offset: 2, body_state: 'stored', body: '' },
      { offset: 3, body_state: 'not-stored', body: '' },
      { offset: 4, body_state: 'expired', body: '' },
    ]);
    const delays =
      "SELECT count() AS records, max(delay_seconds) AS delay FROM record_delays WHERE topic = 'chancery.bodies'";
    expect(await data.ask(delays)).toEqual([{ records: 4, delay: 1.5 }]);
  });

  it('"Lag by topic": no value for an interval in which no record of the topic was received', async () => {
    const record = (topic: string, at: number, delay: number) => ({
      ...{ _topic: `chancery.${topic}`, received_at: time(at), written_at: time(at + delay), session_id: 's' },
      ...{ sequence: at, kind: 'k', encoding: 'json', piece: 0, pieces: 1, request: '', body: '', body_bytes: 0 },
    });
    await data.insert('raw_records', [
      ...[record('fast', 100, 1), record('fast', 119, 2), record('fast', 181, 3)],
      ...[record('slow', 121, 4), record('slow', 141, 5)],
    ]);
    const sql = statementOf('chancery-pipeline-health', 'Lag by topic');
    const of = (name: string) =>
      data.ask(
        `SELECT dateDiff('second', toDateTime('${sqlTime(0)}', 'UTC'), time) AS t, seconds FROM (${sql}) WHERE name = '${name}' ORDER BY t`,
      );
    expect(await of('fast')).toEqual([
      { t: 100, seconds: 2 },
      { t: 120, seconds: null },
      { t: 140, seconds: null },
      { t: 160, seconds: null },
      { t: 180, seconds: 3 },
    ]);
    expect(await of('slow')).toEqual([
      { t: 120, seconds: 4 },
      { t: 140, seconds: 5 },
    ]);
    const later = sql.replaceAll(/toDateTime\(\d+\)/g, 'toDateTime(0)');
    expect(await data.ask(later)).toEqual([]);
  });

  it('dead_letters_between: how many of each reason were written in the time, and the last one', async () => {
    const letter = (at: number, reason: string, payload: string) => ({
      ...{ _topic: 'chancery.letters', kind: 'order-book.frame', session_id: 's', sequence: 1, json_path: 'd' },
      ...{ received_at: time(at), written_at: time(at), reason, payload, payload_length: 1 },
    });
    await data.insert('dead_letters', [
      ...[letter(9, 'a', 'before'), letter(10, 'a', 'first'), letter(19, 'a', 'last'), letter(20, 'a', 'after')],
      letter(15, 'b', 'only'),
    ]);
    const between = `dead_letters_between(from_at = '${time(10)}', to_at = '${time(20)}')`;
    const sql = `SELECT topic, reason, letters, last_written_at, payload FROM ${between} WHERE topic = 'chancery.letters' ORDER BY reason`;
    const topic = 'chancery.letters';
    expect(await data.ask(sql)).toEqual([
      { topic, reason: 'a', letters: 2, last_written_at: `${sqlTime(19)}000`, payload: 'last' },
      { topic, reason: 'b', letters: 1, last_written_at: `${sqlTime(15)}000`, payload: 'only' },
    ]);
  });

  it('polls_between and incomplete_polls: what was complete, and what was not and why', async () => {
    const poll = (at: number, outcome: string) => ({
      ...{
        ...searchPoll(time(at)),
        poll_id: `${at}`,
        operation: 'counted',
        outcome,
        expected_items: 9,
        truncated: true,
      },
      cause: outcome === 'complete' ? '' : `cause ${at}`,
    });
    await data.insert('polls', [
      poll(30, 'complete'),
      poll(31, 'failed'),
      poll(32, 'incomplete'),
      poll(40, 'complete'),
    ]);
    const between = `polls_between(from_at = '${time(30)}', to_at = '${time(40)}')`;
    expect(await data.ask(`SELECT * FROM ${between} WHERE operation = 'counted'`)).toEqual([
      { operation: 'counted', polls: 3, complete: 1, incomplete: 1, failed: 1, last_complete_at: `${sqlTime(30)}000` },
    ]);
    const listed = "SELECT outcome, cause, truncated FROM incomplete_polls WHERE operation = 'counted' ORDER BY cause";
    expect(await data.ask(listed)).toEqual([
      { outcome: 'failed', cause: 'cause 31', truncated: true },
      { outcome: 'incomplete', cause: 'cause 32', truncated: true },
    ]);
  });

  it('audit_intervals: the time in which a lost change was not noticed', async () => {
    const audit = {
      session_id: 's',
      stream: 'order-book',
      event: 'audited',
      reason: 'silence',
      compared: 2,
      mismatches: 1,
    };
    await data.insert('audits', [{ ...audit, audited_at: time(31.25), last_equal_at: time(1) }]);
    expect(
      await data.ask("SELECT interval_seconds, reason, mismatches FROM audit_intervals WHERE event = 'audited'"),
    ).toEqual([{ interval_seconds: 30.25, reason: 'silence', mismatches: 1 }]);
  });

  it('table_sizes: the rows of every table that stores some', async () => {
    const [polls] = await data.ask("SELECT rows, contents FROM table_sizes WHERE table = 'polls'");
    expect(polls).toMatchObject({ contents: expect.stringMatching(/^Receipts of polls/) });
    expect((await data.ask('SELECT count() AS rows FROM polls'))[0]).toEqual({ rows: polls?.['rows'] });
    const [sums] = await data.ask("SELECT min(bytes) AS least, countIf(table = 'events') AS views FROM table_sizes");
    expect(sums).toEqual({ least: 0, views: 0 });
  });
});

describe('what panels of a market and of an account ask', () => {
  it('"Profit and loss": all figures at once, without those that depend on a chance which is not known', async () => {
    const choice = { value: '$__all', options: ['a', 'b'] };
    const sql = statementOf('chancery-portfolio', 'Profit and loss', new Map([['account', choice]]));
    const accounts = (rows: string) => {
      const [exact, unknown] = ['Decimal(38, 12)', 'Nullable(Decimal(38, 12))'];
      const columns = `account String, realised_pnl ${exact}, unrealised_pnl ${unknown}, fees ${exact}, value ${unknown}, pnl ${unknown}, complete_to Nullable(DateTime64(6))`;
      return sql.replace('pnl_by_account', `values('${columns}', ${rows})`);
    };
    const known = `('a', 10, 2.5, 1, 7, 11.5, '${ago(100)}')`;
    // The age is that of the account that is least complete; within 25 s, for a busy machine.
    const age = expect.closeTo(110, -1.7);
    expect(await data.ask(accounts(`${known}, ('b', -3, 0.5, 0.25, 1, -2.75, '${ago(5)}')`))).toEqual([
      { total: 8.75, realised: 7, unrealised: 3, paid_fees: 1.25, position_value: 8, age },
    ]);
    expect(await data.ask(accounts(`${known}, ('b', -3, NULL, 0.25, NULL, NULL, NULL)`))).toEqual([
      { total: null, realised: 7, unrealised: null, paid_fees: 1.25, position_value: null, age: null },
    ]);
    expect(
      await data.ask(`${sql.replace('pnl_by_account', "(SELECT * FROM pnl_by_account WHERE account = '')")}`),
    ).toEqual([]);
  });

  it('latest_chances: the last live point by the time of the exchange, then by receipt and position', async () => {
    const point = (occurred: number, received: number, chance: number, source = 'change', index = 0) => ({
      ...{ event: 'el', market: 'ml', chance, source, _index: index },
      ...{ occurred_at: time(occurred), received_at: time(received) },
    });
    await data.insert('chance_points', [
      point(1, 9, 0.1),
      point(2, 5, 0.2),
      point(2, 6, 0.3),
      { ...point(2, 6, 0.4), _offset: 1 },
      point(3, 7, 0.9, 'aggregate'),
    ]);
    expect(await data.ask("SELECT * FROM latest_chances WHERE market = 'ml'")).toEqual([
      { market: 'ml', chance: 0.3, occurred_at: `${sqlTime(2)}000`, received_at: `${sqlTime(6)}000` },
    ]);
  });

  it('market_ticks: every tick with the position of its record, and of the granules only those of the market and time', async () => {
    await data.insert('price_ticks', [
      tick('mt', time(1), 0.4, { _offset: 7, _index: 2, repeated: true }),
      tick('mt', time(2), 1),
    ]);
    const sql =
      "SELECT received_at, last, source, repeated, is_resolution, log, offset, index FROM market_ticks(market = 'mt')";
    const [first, second] = await data.ask(`${sql} ORDER BY received_at`);
    expect(first).toMatchObject({ last: 0.4, source: 'delta', repeated: true, log: 'log', offset: 7, index: 2 });
    expect(second).toMatchObject({ last: 1, is_resolution: true });
    const plan = await host.database.run(`EXPLAIN indexes = 1 ${sql} WHERE received_at >= '${sqlTime(2)}'`, 'reader');
    expect(plan).toMatch(/PrimaryKey\s+Keys:\s+market\s+received_at/);
  });

  it('balance_series: every message of the balance stream', async () => {
    const balance = (at: number, source: string, amount: string) => ({
      ...{ account: 'series', received_at: time(at), source, asset: 'usdc', balance: amount, free: null },
    });
    await data.insert('balance_updates', [
      balance(1, 'list', '5'),
      balance(2, 'update', '5'),
      balance(3, 'update', '4.5'),
    ]);
    const sql =
      "SELECT source, toString(balance) AS balance, free FROM balance_series WHERE account = 'series' ORDER BY received_at, log_position";
    expect(await data.ask(sql)).toEqual([
      { source: 'list', balance: '5', free: null },
      { source: 'update', balance: '5', free: null },
      { source: 'update', balance: '4.5', free: null },
    ]);
  });
});

/** A time of the test's day as ClickHouse writes it, in milliseconds. */
const sqlTime = (seconds: number): string => time(seconds).replace('T', ' ');
