import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { describeWithout } from '../support/describe-without.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { makeEnvironment, python, whyNoPython } from './python.js';
import { recordMarkets } from './recorded-markets.js';

const SUITE = 'the Python examples';

function suite(): void {
  const server = useClickHouse();
  const release = join(temporaryFolder(), 'release');
  beforeAll(async () => {
    await recordMarkets(server.clickhouse);
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', release, '--release', 'rain@1'];
    expect((await commandLine(args)).code).toBe(0);
    await makeEnvironment();
  });

  /** Prices every ten minutes where they were observed, and those that were not, by ClickHouse. */
  async function expected() {
    const [row] = await server.clickhouse.rows<{ kept: number; asked: number; sum: string }>(`
      WITH found AS
      (
        SELECT at, event, market, last FROM
        (
          SELECT event, market, arrayJoin(arrayMap(n -> toDateTime64('2026-01-04 22:00:00', 6, 'UTC') + INTERVAL n * 10 MINUTE, range(25))) AS at
          FROM (SELECT DISTINCT event, market FROM chancery.price_ticks)
        ) AS asked
        INNER JOIN chancery.price_ticks AS ticks ON ticks.market = asked.market
        WHERE received_at <= at AND at BETWEEN (SELECT min(received_at) FROM chancery.price_ticks) AND (SELECT max(received_at) FROM chancery.price_ticks)
        ORDER BY received_at DESC, _offset DESC, _index DESC LIMIT 1 BY market, at
      )
      SELECT countIf(observed) AS kept, count() AS asked, toString(round(sumIf(last, observed), 6)) AS sum FROM
      (
        SELECT at, last, (SELECT groupArray((event, begins_at, ends_at)) FROM chancery.observed_ranges WHERE stream = 'order-book') AS ranges,
          arrayExists(r -> r.1 = found.event AND r.2 <= at AND at < r.3, ranges) AS observed FROM found
      )`);
    return row;
  }

  it('return the observed prices at fixed times, the same with every library', async () => {
    const { kept = 0, asked = 0, sum } = (await expected()) ?? {};
    expect([kept > 0, kept < asked]).toEqual([true, true]);
    const leftOut = `left out ${asked - kept} of ${asked} prices (${(100 * (1 - kept / asked)).toFixed(1)} %): not observed`;
    const programs = [
      [
        'load_pandas',
        '10min',
        'frame = prices(*sys.argv[1:]); print(round(frame["last"].sum(), 6)); print(frame.attrs["left_out"])',
      ],
      ['load_polars', '10m', 'frame, said = prices(*sys.argv[1:]); print(round(frame["last"].sum(), 6)); print(said)'],
      [
        'load_duckdb',
        '10 minutes',
        'frame, said = prices(*sys.argv[1:]); print(round(sum(frame["last"].to_pylist()), 6)); print(said)',
      ],
    ] as const;
    for (const [name, every, code] of programs) {
      const program = `import sys; from ${name} import prices; ${code}`;
      expect([name, await python(['-c', program, release, every])]).toEqual([name, `${sum}\n${leftOut}\n`]);
      expect(await python([`${name}.py`, release, every])).toContain(leftOut);
    }
  });

  it('load every table of a release into ClickHouse', async () => {
    const { url, user, password } = server.clickhouse.endpoint.owner;
    const { hostname, port } = new URL(url);
    const env = { CLICKHOUSE_PASSWORD: password.reveal() };
    const said = await python(['load_clickhouse.py', release, 'loaded', hostname, port, user], env);
    expect(said).toMatch(/^price_ticks: [\d,]+ rows\n/);
    const sums = 'SELECT count() AS rows, groupBitXor(cityHash64(market, received_at, last, bid, ask)) AS hash FROM';
    const tables = ['chancery.price_ticks', 'loaded.price_ticks'];
    const [own, loaded] = await Promise.all(tables.map((table) => server.clickhouse.run(`${sums} ${table}`)));
    expect(loaded).toBe(own);
  });

  it.each(['price_ticks', 'chance_points', 'event_observations', 'collector_events', 'coverage', 'candles'])(
    'compute the content digest of %s again',
    async (table) => {
      expect(await python(['content_digest.py', release, `${table}/2026-01-05.parquet`])).toMatch(
        /^[0-9a-f]{64} as the manifest says\n$/,
      );
    },
  );

  it('read the Frictionless and Croissant descriptions, which are valid', async () => {
    const frictionless =
      'import sys; from frictionless import validate; r = validate(sys.argv[1]); print(r.valid, r.flatten(["title", "fieldName", "type", "note"])[:5])';
    expect(await python(['-c', frictionless, join(release, 'datapackage.json')])).toBe('True []\n');
    const [{ ticks } = {}] = await server.clickhouse.rows<{ ticks: number }>(
      "SELECT count() AS ticks FROM chancery.price_ticks WHERE toDate(received_at) = '2026-01-04'",
    );
    const croissant =
      'import sys, mlcroissant as m; d = m.Dataset(jsonld=sys.argv[1]); rows = sum(1 for _ in d.records("price_ticks-2026-01-04")); print(d.metadata.name, rows, list(d.metadata.ctx.issues.errors))';
    expect(await python(['-c', croissant, join(release, 'croissant.json')])).toBe(`rain ${ticks} []\n`);
  });
}

const missing = whyNoPython();
if (missing) describeWithout(SUITE, missing.why, missing, suite);
else describe(SUITE, suite);
