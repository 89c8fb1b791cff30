import { appendFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import type { Manifest } from '../../datasets/release/manifest.js';
import { commandLine } from '../cli/command.js';
import { useClickHouse } from '../support/clickhouse.js';
import { describeWithout } from '../support/describe-without.js';
import { makeEnvironment, PANDAS_3, python, whyNoPython } from '../support/python.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { recordMarkets } from './recorded-markets.js';

/** What readers/tardis.py prints of one market and day. */
interface Reading {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly trades: number;
  readonly volume: number;
  readonly refused: readonly string[];
}
interface Readings {
  readonly nautilus: Reading & { readonly quotes: number };
  readonly hftbacktest: Reading & { readonly lines: number; readonly read: number };
}

/** A program that reads an export as others do. */
const reader = (name: string) => join(import.meta.dirname, 'readers', `${name}.py`);

const FIGURES = ['resolved', 'forecasts', 'score', 'trades', 'valued', 'pnl'] as const;

const SUITE = 'the Python examples';

function suite(): void {
  const server = useClickHouse();
  const release = join(temporaryFolder(), 'release');
  beforeAll(async () => {
    await recordMarkets(server.clickhouse);
    // Two markets of each event are resolved: of one, the price two hours before is in a gap. The other one was final the day
    // before, with the other chance, and has moved since then.
    await server.clickhouse.run(`
      INSERT INTO chancery.chance_points (_log, _partition, _offset, _index, received_at, occurred_at, event, market, chance, source)
      WITH toDateTime64(if(market LIKE 'm0-%', '2026-01-05 02:00:30', '2026-01-05 02:10:30'), 6, 'UTC') AS last
      SELECT any(_log), any(_partition), 0, 1000 + cityHash64(market, final.1) % 1000000, final.1 + 0.5, final.1, any(event), market,
        (cityHash64(market) + final.2) % 2, 'change'
      FROM chancery.chance_points
      ARRAY JOIN arrayConcat([(last, 0)], if(market LIKE 'm0-%', [(toDateTime64('2026-01-04 23:59:59', 6, 'UTC'), 1)], [])) AS final
      WHERE market NOT LIKE 'm2-%' GROUP BY market, final`);
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', release, '--release', 'rain@1'];
    expect((await commandLine(args)).code).toBe(0);
    await makeEnvironment();
    await makeEnvironment(PANDAS_3);
  });

  /** Prices at each multiple of some minutes where they were observed, and those that were not, by ClickHouse. */
  async function expected(minutes: number) {
    const [row] = await server.clickhouse.rows<{ kept: number; asked: number; sum: string }>(`
      WITH found AS
      (
        SELECT at, event, market, last FROM
        (
          SELECT event, market, arrayJoin(arrayMap(n -> toDateTime64(n * 60 * ${minutes}, 6, 'UTC'), range(intDiv(first, 60 * ${minutes}), 1 + intDiv(last, 60 * ${minutes})))) AS at
          FROM (SELECT DISTINCT event, market, toUnixTimestamp(min(received_at) OVER ()) AS first, toUnixTimestamp(max(received_at) OVER ()) AS last FROM chancery.price_ticks)
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
    // A multiple of 9 minutes is in the gap, and the last tick is nearer to the one before it than the first tick.
    const { kept = 0, asked = 0, sum } = (await expected(9)) ?? {};
    expect([kept > 0, kept < asked]).toEqual([true, true]);
    const leftOut = `left out ${asked - kept} of ${asked} prices (${(100 * (1 - kept / asked)).toFixed(1)} %): not observed`;
    const programs = [
      [
        'load_pandas',
        '9min',
        'frame = prices(*sys.argv[1:]); print(round(frame["last"].sum(), 6)); print(frame.attrs["left_out"])',
      ],
      ['load_polars', '9m', 'frame, said = prices(*sys.argv[1:]); print(round(frame["last"].sum(), 6)); print(said)'],
      [
        'load_duckdb',
        '9 minutes',
        'frame, said = prices(*sys.argv[1:]); print(round(sum(frame["last"].to_pylist()), 6)); print(said)',
      ],
    ] as const;
    for (const [name, every, code] of programs) {
      const program = `import sys; from ${name} import prices; ${code}`;
      expect([name, await python(['-c', program, release, every])]).toEqual([name, `${sum}\n${leftOut}\n`]);
      expect(await python([`${name}.py`, release, every])).toContain(leftOut);
    }
    const [[, , code]] = programs;
    const program = `import sys, pandas; from load_pandas import prices; print(pandas.__version__[0]); ${code}`;
    expect(await python(['-c', program, release, '9min'], {}, PANDAS_3)).toBe(`3\n${sum}\n${leftOut}\n`);
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
    const damaged = join(temporaryFolder(), 'damaged');
    cpSync(release, damaged, { recursive: true });
    appendFileSync(join(damaged, 'price_ticks/2026-01-04.parquet'), 'x');
    const files = [release, damaged].map((folder) => join(folder, 'croissant.json'));
    expect(await python([reader('croissant'), 'price_ticks-2026-01-04', ...files])).toBe(
      `rain ${ticks} []\nrain Hash of downloaded file\n`,
    );
  });

  it('make a calibration curve and a table of profit and loss in a notebook', async () => {
    const examples = join(packageRoot(), 'examples');
    const notebook = readFileSync(join(examples, 'release.ipynb'), 'utf8');
    expect(await python(['make_notebook.py'])).toBe(notebook);
    const said = await python([reader('notebook'), join(examples, 'release.ipynb')], {
      RELEASE: release,
      HORIZON: '2h',
    });
    const { lines, pictures } = JSON.parse(said) as { lines: string[]; pictures: number };
    const { kept = 0, asked = 0 } = (await expected(10)) ?? {};
    const { resolved, forecasts, score, trades, valued, pnl } = await expectedFigures();
    expect([pictures, lines]).toEqual([
      2,
      [
        'rain@1',
        `left out ${asked - kept} of ${asked} prices (${(100 * (1 - kept / asked)).toFixed(1)} %): not observed`,
        `left out ${resolved - forecasts} of ${resolved} resolved markets: their price was not observed 0 days 02:00:00 before`,
        `Brier score ${score.toFixed(6)}`,
        `left out ${trades - valued} of ${trades} trades: the outcome or the side is not known, or the market is not resolved`,
        `profit and loss of all takers: ${pnl.toFixed(6)} USDC`,
      ],
    ]);
    expect([forecasts > 0, forecasts < resolved, valued > 0, valued < trades]).toEqual([true, true, true, true]);
    const { tables } = JSON.parse(readFileSync(join(release, 'manifest.json'), 'utf8')) as Manifest;
    expect(tables.find(({ name }) => name === 'resolutions')?.rows).toBeGreaterThan(resolved);
  });

  /** The figures of the notebook, by ClickHouse. */
  async function expectedFigures() {
    const [row] = await server.clickhouse.rows<Record<(typeof FIGURES)[number], number>>(`
      WITH
        (SELECT groupArray((event, begins_at, ends_at)) FROM chancery.observed_ranges WHERE stream = 'order-book') AS ranges,
        known AS
        (
          SELECT market, event, resolution = 'yes' AS won, toStartOfInterval(assumeNotNull(known_at) - toIntervalHour(2), toIntervalMinute(10)) AS at
          FROM chancery.resolutions WHERE basis = 'final chance'
        ),
        forecasts AS
        (
          SELECT known.market, any(won) AS won, argMax(last, (received_at, _offset, _index)) AS price
          FROM known INNER JOIN chancery.price_ticks AS ticks ON ticks.market = known.market
          WHERE received_at <= at AND arrayExists(r -> r.1 = known.event AND r.2 <= at AND at < r.3, ranges)
          GROUP BY known.market
        ),
        fills AS (SELECT market, outcome, side, quantity, price FROM chancery.activity),
        valued AS (SELECT toFloat64(quantity) * if(side = 'BUY', 1, -1) * (if(outcome = 'YES', won, 1 - won) - toFloat64(price)) AS pnl FROM fills INNER JOIN known USING (market))
      SELECT
        (SELECT count() FROM known) AS resolved, (SELECT count() FROM forecasts) AS forecasts,
        (SELECT avg(pow(price - won, 2)) FROM forecasts) AS score,
        (SELECT count() FROM fills) AS trades, (SELECT count() FROM valued) AS valued, (SELECT sum(pnl) FROM valued) AS pnl`);
    if (!row) throw new Error('no figures');
    return row;
  }

  it('read every table with the datasets of Hugging Face, without a network', async () => {
    const rows = await python([reader('hugging_face'), release, temporaryFolder()]);
    const { tables } = JSON.parse(readFileSync(join(release, 'manifest.json'), 'utf8')) as Manifest;
    const written = tables.filter((table) => table.rows > 0);
    // It has no type for maps.
    const readable = written.filter(({ columns }) => !columns.some(({ type }) => type.startsWith('Map(')));
    expect(JSON.parse(rows)).toEqual(Object.fromEntries(readable.map((table) => [table.name, table.rows])));
    expect(written.filter((table) => !readable.includes(table)).map(({ name }) => name)).toEqual(['collector_events']);
    expect(readFileSync(join(release, 'README.md'), 'utf8')).toContain('which reads no maps: `collector_events`.');
  });

  /** Per day and market, what an export in the layout of Tardis.dev is to have. */
  async function expectedMarkets() {
    return server.clickhouse.rows<{ file: string; quotes: number; bid: number | null; ask: number | null }>(`
      SELECT file, quotes, book.1 AS bid, book.2 AS ask FROM
      (
        SELECT concat(toString(toDate(received_at)), ' ', market) AS file, count() AS quotes,
          argMax((bid, ask), (received_at, _offset, _index)) AS book
        FROM chancery.price_ticks WHERE NOT repeated GROUP BY file
      )`);
  }

  it('read the layout of Tardis.dev with nautilus_trader and hftbacktest: the same quotes, prices and volume', async () => {
    const out = join(temporaryFolder(), 'tardis');
    // nautilus_trader reads only files of exchanges that it knows.
    const args = ['export', '--data', server.clickhouse.dataFolder, '--out', out, '--format', 'tardis-csv'];
    expect((await commandLine([...args, '--exchange-name', 'binance'])).code).toBe(0);
    const found = JSON.parse(await python([reader('tardis'), out])) as Record<string, Readings>;
    const expected = await expectedMarkets();
    expect(Object.keys(found).sort()).toEqual(expected.map(({ file }) => file).sort());
    for (const { file, quotes, bid, ask } of expected) {
      const { nautilus, hftbacktest } = found[file] as Readings;
      expect([file, nautilus]).toMatchObject([file, { quotes, bid, ask, refused: [] }]);
      const { lines, read, refused, ...book } = hftbacktest;
      expect([file, book]).toMatchObject([file, { bid, ask }]);
      // It omits a snapshot that no other line follows in its file.
      expect([file, lines - read, ...refused]).toEqual([file, refused.length, ...refused]);
      expect(refused.every((line) => line.split(',')[4] === 'true')).toBe(true);
    }
    const [volume] = await server.clickhouse.rows<{ trades: number; volume: number }>(
      "SELECT count() AS trades, toFloat64(sum(yes_price * quantity)) AS volume FROM chancery.fills WHERE scope = 'all'",
    );
    const readings = Object.values(found);
    for (const of of [readings.map(({ nautilus }) => nautilus), readings.map(({ hftbacktest }) => hftbacktest)]) {
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      expect([sum(of.map(({ trades }) => trades)), sum(of.map((one) => one.volume))]).toEqual([
        volume?.trades,
        expect.closeTo(volume?.volume ?? 0, 6),
      ]);
    }
  });
}

const missing = whyNoPython();
if (missing) describeWithout(SUITE, missing, {}, suite);
else describe(SUITE, suite);
