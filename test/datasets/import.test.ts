import { appendFileSync, cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecorded } from '../../datasets/tables.js';
import { Connection } from '../../warehouse/index.js';
import { chancery, commandLine } from '../cli/command.js';
import { rows, startUp } from '../cli/start-up.js';
import { comparable, farMoments, type Row } from '../sql/comparable-rows.js';
import { declaredViews } from '../sql/declared-views.js';
import { startClickHouse, type TestClickHouse, useClickHouse } from '../support/clickhouse.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { readManifestOf } from './forge.js';
import { recordMarkets } from './recorded-markets.js';

/** Of the records, Unix seconds: the last two hours of a day and the first two of the next one, which is over for a day. */
const TO = Math.floor(Date.now() / 86_400_000) * 86_400 - 46 * 3600;
const FROM = TO - 4 * 3600;
const ACCOUNTS = 'alice,bob,carol';

/** Columns that an export writes as HMACs. */
const HASHED = ['user_id', 'username'];

const PUBLIC = "topic NOT IN ('chancery.account', 'chancery.collector-events')";

/**
 * What is compared of views that show what no release has: the raw records of accounts and collectors, and causes, which may name
 * an account. Imported bodies do not expire.
 */
const RELEASED: Readonly<Record<string, string>> = {
  incomplete_polls: 'SELECT * EXCEPT cause FROM chancery.incomplete_polls',
  record_bodies: `SELECT * EXCEPT body_expires_at FROM chancery.record_bodies WHERE ${PUBLIC}`,
  record_delays: `SELECT * FROM chancery.record_delays WHERE ${PUBLIC}`,
};

/** Views that have no rows here, and why; every other view has rows, which are compared. */
const EMPTY: Readonly<Record<string, string>> = {
  calibration_curve: 'no market has a forecast an hour before its close',
  calibration_forecasts: 'no market has a forecast an hour before its close',
  calibration_regression: 'no market has a forecast an hour before its close',
  calibration_scores: 'no market has a forecast an hour before its close',
  dead_letters_between: 'every record was decoded',
  freshness: 'no collector is running',
  lost_periods: 'no record was lost',
  movers: 'it is about the last day',
  outcome_correlations: 'four hours have too few price changes',
  pipeline_lag: 'it is about the last hour',
  spread_stats: 'it is about the last day',
  undelivered: 'every record was delivered',
  volume_leaders: 'it is about the last day',
};

const connect = ({ endpoint }: TestClickHouse): Connection =>
  new Connection({ endpoint: endpoint.owner, database: 'chancery', application: 'test' });

const withoutUsers = (found: readonly Row[]): Row[] =>
  found.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !HASHED.includes(name))));

describe('chancery import', () => {
  const server = useClickHouse();
  const release = join(temporaryFolder(), 'release');
  beforeAll(async () => {
    await recordMarkets(server.clickhouse, { from: FROM, to: TO });
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', release, '--release', 'rain@1'];
    const more = [
      '--accounts',
      ACCOUNTS,
      '--include-private',
      '--finished-after-hours',
      '0',
      '--candle-periods',
      '3600',
    ];
    expect((await commandLine([...args, ...more])).code).toBe(0);
  });

  it('makes an instance whose views answer like the source, and which records', async () => {
    const data = join(temporaryFolder(), 'data');
    const { code, out } = await chancery(['import', release, '--data', data]);
    const { tables } = readManifestOf(release);
    const recorded = tables.reduce((sum, table) => sum + (isRecorded(table) ? table.rows : 0), 0);
    expect({ code, out }).toEqual({ code: 0, out: `${data}: ${recorded.toLocaleString('en-US')} rows of rain@1\n` });
    expect(existsSync(`${data}.import`)).toBe(false);
    const imported = await startClickHouse({ dataFolder: data });
    try {
      await compareViews(server.clickhouse, imported);
    } finally {
      await imported.server.stop();
    }
    expect(await chancery(['import', release, '--data', data])).toMatchObject({
      code: 2,
      err: `chancery: ${data} is not empty; a dataset is imported into a new data folder: choose another with --data\n`,
    });

    const up = startUp(data);
    await up.line(/^ready in /);
    const ticks = tables.find(({ name }) => name === 'price_ticks')?.rows;
    await until(async () => {
      const [found] = await rows<{ imported: number; recorded: number }>(
        data,
        `SELECT countIf(received_at < toDateTime(${TO + 3600})) AS imported, countIf(received_at > now() - INTERVAL 1 HOUR) AS recorded FROM price_ticks`,
      );
      expect(found?.imported).toBe(ticks);
      return (found?.recorded ?? 0) > 0 || 'no new tick';
    });
  });

  /** Compares every view; columns that depend on the time of the query, as far as the seconds between two queries decide them. */
  async function compareViews(source: TestClickHouse, imported: TestClickHouse): Promise<void> {
    const [expected, found] = [connect(source), connect(imported)];
    try {
      const [first] = await expected.query<{ market: string }>(
        'SELECT min(market) AS market FROM chancery.price_ticks',
      );
      const given = { from_at: `toDateTime(${FROM})`, to_at: `toDateTime(${TO})`, market: `'${first?.market}'` };
      const rowsOf = <T>(sql: string) => expected.query<T>(sql.replace('currentDatabase()', "'chancery'"));
      for (const { name, source: view } of await declaredViews({ rows: rowsOf }, given)) {
        // How ClickHouse stores the rows: merges differ.
        if (name === 'table_sizes' || name in EMPTY) continue;
        const ask = async (connection: Connection) =>
          comparable(withoutUsers(await connection.query<Row>(RELEASED[name] ?? `SELECT * FROM chancery.${view}`)));
        const [own, other] = await Promise.all([ask(expected), ask(found)]);
        expect([name, other.exact]).toEqual([name, own.exact]);
        expect([name, farMoments(other, own)]).toEqual([name, []]);
        expect(own.exact.length, name).toBeGreaterThan(0);
      }
    } finally {
      await expected.close();
      await found.close();
    }
  }

  it('imports nothing of a damaged release', async () => {
    const folder = join(temporaryFolder(), 'copy');
    cpSync(release, folder, { recursive: true });
    appendFileSync(join(folder, 'README.md'), 'x');
    const data = join(temporaryFolder(), 'data');
    const { code, out } = await commandLine(['import', folder, '--data', data]);
    expect({ code, out }).toEqual({
      code: 1,
      out: `README.md: does not have the SHA-256 of SHA256SUMS\n${folder} is damaged: nothing was imported\n`,
    });
    expect(existsSync(data)).toBe(false);
  });

  it('refuses a ClickHouse server, and a folder with something in it', async () => {
    const data = temporaryFolder();
    writeFileSync(join(data, 'file'), '');
    expect((await commandLine(['import', release, '--data', data])).err).toMatch(/is not empty; [^\n]+\n$/);
    rmSync(join(data, 'file'));
    const env = { CLICKHOUSE_URL: 'http://127.0.0.1:1' };
    expect((await commandLine(['import', release, '--data', data], { env })).err).toBe(
      'chancery: a dataset is imported into the embedded ClickHouse only; remove the server or cluster from the environment and chancery.config.json\n',
    );
  });
});
