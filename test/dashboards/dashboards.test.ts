import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ALL,
  bucketMs,
  expandQuery,
  intervalMs,
  type QueryContext,
  relativeRange,
  type VariableChoice,
} from '../../viewer/index.js';
import type { EmbeddedEndpoint } from '../../warehouse/index.js';
import { loadComparison } from '../grafana/load-comparison.js';
import { openBooks, tradersOf, writeAccounts } from '../pipeline/account-traders.js';
import { OFTEN_POLLED, Rig } from '../pipeline/rig.js';
import { fastest } from '../support/fastest.js';
import { runAs } from '../support/run-as.js';
import { isSlowMachine } from '../support/slow-machine.js';
import { until } from '../support/until.js';
import { type Answer, askAsGrafana, askTimed, framesOf, valuesOf } from './answer.js';
import { checkCompleteness, checkNames, checkShape, overlaps, saysCompleteness } from './checks.js';
import { MAY_BE_EMPTY, WITHOUT_COMPLETENESS } from './expectations.js';
import { RULES, readDataSource, readRules } from './provisioning.js';
import { type Dashboard, type DashboardTarget, loadDashboards, type Panel, panelsOf } from './shipped-dashboards.js';
import { chooseVariables } from './variables.js';

/** Duration that no query may exceed; on a busy machine, processor time of the server; on a slow one twice as long. */
const WITHIN_MS = isSlowMachine ? 4000 : 2000;
const DEFAULT_POINTS = 1000;
const dashboards = loadDashboards();
const comparison = await loadComparison();

describe('the dashboards', () => {
  const rig = new Rig();
  let clickhouse: EmbeddedEndpoint;
  /** What is chosen of each dashboard's variables after it was opened. */
  const opened = new Map<string, ReadonlyMap<string, VariableChoice>>();
  /** Queries that took longer than they may, but while the server also inserted what was recorded. */
  const suspects = new Set<string>();

  beforeAll(async () => {
    await rig.startExchange({ seed: 11, events: 6, pace: 5 });
    await rig.start('warehouse');
    clickhouse = await rig.clickhouse();
    await rig.start('transform');
    const accounts = join(rig.folder, 'accounts.json');
    writeAccounts(accounts, rig.exchange);
    const recorded = ['--accounts-file', accounts, '--audit-ms', '1000', ...OFTEN_POLLED];
    await rig.start('collect', recorded);
    await until(async () => (await rig.value<number>('SELECT count() FROM price_ticks')) > 600);
    // Something happens: a frame that cannot be understood, a collector that dies and comes back.
    // The exchange's bots read the same stream, so a fault may apply to one of them instead.
    await until(async () => {
      await rig.arm({ kind: 'malformed-frame', stream: 'order-book' });
      return (await rig.value<number>('SELECT count() FROM dead_letters')) > 0;
    });
    await rig.service('collect').kill9();
    await rig.start('collect', recorded);
    await until(
      async () => (await rig.value<number>("SELECT count() FROM sessions WHERE state = 'live'")) === 1,
      40_000,
    );
    await until(async () => (await rig.value<number>('SELECT countIf(live) FROM coverage_by_event')) > 0);
    await until(async () => (await rig.value<number>('SELECT count() FROM feed_loss_estimate')) > 0);
    const { traders, exchange } = tradersOf(rig.exchange);
    await openBooks(traders, exchange);
    await exchange.close();
    // While trading is closed, no market ends: its orders stay in the book.
    await rig.order('/trading', { open: false });
    await until(async () => (await rig.value<number>('SELECT count() FROM active_orders')) > 0);
    await until(async () => (await rig.value<number>('SELECT count() FROM tpsl_orders')) > 0);
    await until(async () => (await rig.value<number>('SELECT count() FROM position_reconciliation')) > 0);
    for (const dashboard of dashboards) opened.set(dashboard.uid, await chooseVariables(clickhouse.reader, dashboard));
  });
  afterAll(() => rig.close());

  const contextOf = (dashboard: Dashboard, panel?: Panel): QueryContext => {
    const range = relativeRange(dashboard.time.from, dashboard.time.to, new Date());
    const least = panel?.interval === undefined ? 1 : intervalMs(panel.interval);
    return {
      range,
      bucketMs: bucketMs(range, panel?.maxDataPoints ?? DEFAULT_POINTS, least),
      variables: opened.get(dashboard.uid) ?? new Map(),
    };
  };
  const ask = async (dashboard: Dashboard, target: DashboardTarget, panel?: Panel): Promise<Answer> => {
    const sql = expandQuery(target.rawSql, contextOf(dashboard, panel));
    const { answer, ms } = await askTimed(clickhouse, sql);
    if (ms >= WITHIN_MS) suspects.add(sql);
    return answer;
  };

  for (const dashboard of dashboards) {
    describe(dashboard.uid, () => {
      it('has panels with an ID of their own that do not overlap', () => {
        const ids = dashboard.panels.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(overlaps(dashboard)).toEqual([]);
      });

      it('offers a choice for each of its variables, the default one among them', () => {
        for (const [name, { value, options }] of opened.get(dashboard.uid) ?? []) {
          expect(options.length, name).toBeGreaterThan(0);
          expect(value === ALL ? [ALL] : options, name).toContain(value);
        }
      });

      for (const panel of panelsOf(dashboard)) {
        it(`shows "${panel.title}"`, async () => {
          const answers: Answer[] = [];
          for (const target of panel.targets) answers.push(await ask(dashboard, target, panel));
          checkShape(panel, answers);
          checkNames(panel, answers);
          checkCompleteness(panel, answers);
          expect(saysCompleteness(answers)).toBe(!(WITHOUT_COMPLETENESS[dashboard.uid] ?? []).includes(panel.title));
          expect(comparison?.differencesFromGrafana(panel, framesOf(panel, answers)) ?? []).toEqual([]);
          const mayBeEmpty = MAY_BE_EMPTY[dashboard.uid]?.includes(panel.title) ?? false;
          if (mayBeEmpty) expect(panel.fieldConfig.defaults.noValue, 'what being empty means').toBeDefined();
          else for (const { rows } of answers) expect(rows.length).toBeGreaterThan(0);
        });
      }

      for (const annotation of dashboard.annotations.list) {
        it(`draws "${annotation.name}"`, async () => {
          const { columns } = await ask(dashboard, annotation.target);
          const kinds = Object.fromEntries(columns.map(({ name, kind }) => [name, kind]));
          expect(kinds).toMatchObject({ time: 'time', text: 'text' });
        });
      }
    });
  }

  it('show what happened: the letter that was not understood, the collector that died, the gap it left', async () => {
    const health = dashboards.find(({ uid }) => uid === 'chancery-pipeline-health');
    const answerOf = async (title: string) => {
      const panel = health && panelsOf(health).find((one) => one.title === title);
      if (!health || !panel?.targets[0]) throw new Error(`there is no panel ${title}`);
      return ask(health, panel.targets[0], panel);
    };
    const letters = async () => Number(valuesOf(await answerOf('Dead letters'), 'letters')[0]);
    // A fault that is still armed may apply between two queries.
    const lettersBefore = await letters();
    const reasons = await answerOf('Dead letters by reason');
    const lettersAfter = await letters();
    expect(new Set(valuesOf(reasons, 'kind'))).toEqual(new Set(['order-book.frame']));
    const ofReasons = valuesOf(reasons, 'times').reduce<number>((sum, one) => sum + Number(one), 0);
    expect(ofReasons).toBeGreaterThanOrEqual(lettersBefore);
    expect(ofReasons).toBeLessThanOrEqual(lettersAfter);
    expect(valuesOf(await answerOf('Collectors'), 'state')).toEqual(['live', 'died']);
    const freshness = await answerOf('Freshness per hop');
    const topics = ['account', 'chance', 'collector-events', 'order-book', 'reference'];
    expect(valuesOf(freshness, 'name')).toEqual(topics);
    for (const hop of ['bus_age', 'row_age'])
      expect(Math.max(...valuesOf(freshness, hop).map(Number))).toBeLessThan(60);
    expect(valuesOf(freshness, 'frame_age').map((age) => age !== null)).toEqual([true, true, false, true, false]);
    expect(valuesOf(await answerOf('Gaps'), 'cause')).toContain('no further heartbeat of the collector');
    const seconds = async (title: string, columns = ['seconds']) => {
      const answer = await answerOf(title);
      return columns.flatMap((name) => valuesOf(answer, name)).reduce<number>((sum, one) => sum + Number(one), 0);
    };
    // A gap may grow between two questions.
    const [before, drawn, after] = [
      await seconds('Gaps'),
      await seconds('Seconds not observed', ['order_book', 'chance', 'orders', 'balance', 'feed']),
      await seconds('Gaps'),
    ];
    expect(drawn).toBeGreaterThan(before - 1);
    expect(drawn).toBeLessThan(after + 1);
  });

  it('draw the outcomes of an event from the interval on in which the range begins', async () => {
    const event = dashboards.find(({ uid }) => uid === 'chancery-event') as Dashboard;
    const variables = opened.get(event.uid) ?? new Map();
    const chosen = variables.get('event')?.value;
    const isOld = `SELECT min(received_at) < now() - 30 FROM price_ticks WHERE event = '${chosen}'`;
    await until(async () => (await rig.value<number>(isOld)) === 1, 60_000);
    const to = new Date();
    const begins = Math.floor(to.getTime() / 5000) * 5000 - 20_000;
    // Between two multiples of the interval.
    const range = { from: new Date(begins + 2500), to };
    for (const title of ['Probability of every outcome', 'All outcomes, stacked']) {
      const panel = panelsOf(event).find((one) => one.title === title);
      const starts = [];
      for (const { rawSql } of panel?.targets ?? []) {
        const { answer } = await askTimed(clickhouse, expandQuery(rawSql, { range, bucketMs: 5000, variables }));
        starts.push(Date.parse(`${valuesOf(answer, 'time')[0]}Z`));
      }
      expect(starts, title).toEqual([begins, begins]);
    }
  });

  it('end a line with what a tile or table says: what was realised, and each balance, also one without a change', async () => {
    const portfolio = dashboards.find(({ uid }) => uid === 'chancery-portfolio') as Dashboard;
    const panelOf = (title: string) => panelsOf(portfolio).find((one) => one.title === title) as Panel;
    const answerOf = (title: string) => {
      const panel = panelOf(title);
      return ask(portfolio, panel.targets[0] as DashboardTarget, panel);
    };
    const [realised] = valuesOf(await answerOf('Profit and loss'), 'realised');
    const drawn = valuesOf(await answerOf('Profit and loss over time'), 'realised').filter((one) => one !== null);
    expect(Number(drawn.at(-1))).toBeCloseTo(Number(realised), 6);
    // Repeated per account.
    const lines = panelOf('USDC balance: $account');
    const { variables, ...context } = contextOf(portfolio, lines);
    const lastBalance = async (account: string) => {
      const chosen = new Map(variables).set('account', { value: account, options: [account] });
      const sql = expandQuery((lines.targets[0] as DashboardTarget).rawSql, { ...context, variables: chosen });
      const { answer } = await askTimed(clickhouse, sql);
      const amounts = valuesOf(answer, 'usdc');
      return Number(amounts[valuesOf(answer, 'kind').lastIndexOf('balance')]);
    };
    const balances = await answerOf('Balances');
    const names = valuesOf(balances, 'name');
    const [accounts, totals] = [valuesOf(balances, 'account'), valuesOf(balances, 'balance')];
    const coins = accounts.flatMap((account, row) =>
      names[row] === 'USD Coin' ? [[String(account), totals[row]] as const] : [],
    );
    expect(coins.length).toBeGreaterThan(0);
    for (const [account, total] of coins) expect(await lastBalance(account)).toBeCloseTo(Number(total), 6);
  });

  it.each([
    [
      'Last price',
      'last_price',
      '(SELECT *, (`_offset`, `_index`) AS position FROM price_ticks WHERE NOT repeated AND NOT is_resolution)',
      'received_at',
      'last',
      'order-book',
    ],
    [
      'Chance',
      'chance',
      '(SELECT *, (received_at, log_position) AS position FROM chance_series)',
      'occurred_at',
      'chance',
      'chance',
    ],
  ])('begin the line "%s" with what was known before its time', async (title, column, rows, at, value, stream) => {
    const overview = dashboards.find(({ uid }) => uid === 'chancery-market-overview') as Dashboard;
    const panel = panelsOf(overview).find((one) => one.title === title) as Panel;
    // The longest observed time in whole seconds after a change and before the next one.
    const between = await askAsGrafana(
      clickhouse.reader,
      `SELECT event, market, value, begins,
          -- A line is not drawn where nothing was observed, as after the last heartbeat.
          least(changes_at, floor(toUnixTimestamp64Milli(arrayFirst(range -> toUnixTimestamp64Milli(range.1) / 1000 <= begins AND toUnixTimestamp64Milli(range.2) / 1000 > begins, ranges).2) / 1000)) AS ends
      FROM
      (
          SELECT event, market, toFloat64(${value}) AS value,
              ceil(toUnixTimestamp64Milli(${at}) / 1000 + 0.001) AS begins,
              floor(toUnixTimestamp64Milli(leadInFrame(${at}, 1, now64(6, 'UTC')) OVER changes) / 1000) AS changes_at
          FROM ${rows}
          WINDOW changes AS (PARTITION BY market ORDER BY ${at}, position ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
      ) AS known
      INNER JOIN (SELECT event, groupArray((begins_at, ends_at)) AS ranges FROM observed_ranges WHERE stream = '${stream}' GROUP BY event) AS observed USING (event)
      WHERE ends > begins
      ORDER BY ends - begins DESC, market
      LIMIT 1`,
    );
    const [event = '', market = ''] = ['event', 'market'].map((name) => String(valuesOf(between, name)[0]));
    const [known, begins = 0, ends = 0] = ['value', 'begins', 'ends'].map((name) => Number(valuesOf(between, name)[0]));
    const chosen = new Map(opened.get(overview.uid));
    for (const [name, one] of [
      ['event', event],
      ['market', market],
    ] as const)
      chosen.set(name, { value: one, options: [one] });
    // Ends before the next change.
    const range = { from: new Date(1000 * begins), to: new Date(1000 * ends - 1) };
    const sql = expandQuery((panel.targets[0] as DashboardTarget).rawSql, { range, bucketMs: 1000, variables: chosen });
    const answer = await askAsGrafana(clickhouse.reader, sql);
    const missing = valuesOf(answer, 'missing').map(Number);
    const drawn = valuesOf(answer, column).filter((_, row) => (missing[row] ?? 1) < 0.9995);
    expect(drawn.length).toBeGreaterThan(0);
    expect(new Set(drawn)).toEqual(new Set([known]));
  });

  it('say whether quotes are observed, and how much of the volume is known', async () => {
    const answerOf = async (uid: string, title: string) => {
      const dashboard = dashboards.find((one) => one.uid === uid) as Dashboard;
      const panel = panelsOf(dashboard).find((one) => one.title === title) as Panel;
      return await ask(dashboard, panel.targets[0] as DashboardTarget, panel);
    };
    for (const [uid, title] of [
      ['chancery-event', 'Outcomes'],
      ['chancery-market-overview', 'Outcomes of this event'],
    ] as const) {
      const states = valuesOf(await answerOf(uid, title), 'recording');
      expect(states.length).toBeGreaterThan(1);
      expect(states.filter((state) => state !== 'live' && state !== 'closed')).toEqual([]);
    }
    for (const title of ['Everybody', 'Recorded accounts']) {
      const [missing] = valuesOf(await answerOf('chancery-volume', title), 'missing').map(Number);
      // Of an hour, at most the minutes since the last poll.
      expect(missing, title).toBeLessThan(0.1);
      expect(missing, title).toBeGreaterThanOrEqual(0);
    }
  });

  it('draw chances that were fetched from before the first session', async () => {
    const overview = dashboards.find(({ uid }) => uid === 'chancery-market-overview') as Dashboard;
    const panel = panelsOf(overview).find(({ title }) => title === 'Chance') as Panel;
    const day = Math.floor(Date.now() / 86_400_000) * 86_400 - 2 * 86_400;
    const [[event, market] = []] = (
      await askAsGrafana(clickhouse.reader, 'SELECT event, market FROM chance_series ORDER BY market LIMIT 1')
    ).rows;
    await runAs(
      clickhouse.owner,
      `
      INSERT INTO chancery.chance_points (_log, _partition, _offset, _index, received_at, occurred_at, event, market, chance, source)
      SELECT 'fetched', 0, number, 0, now64(6), toDateTime64(${day} + number, 6, 'UTC'), '${event}', '${market}', (20 + number) / 100, 'aggregate'
      FROM numbers(5)`,
    );
    const variables = new Map(opened.get(overview.uid));
    for (const [name, value] of Object.entries({ event, market })) {
      variables.set(name, { value: String(value), options: [String(value)] });
    }
    const range = { from: new Date(1000 * (day - 5)), to: new Date(1000 * (day + 10)) };
    const sql = expandQuery((panel.targets[0] as DashboardTarget).rawSql, { range, bucketMs: 1000, variables });
    const answer = await askAsGrafana(clickhouse.reader, sql);
    expect(valuesOf(answer, 'chance').map(Number)).toEqual([0.2, 0.21, 0.22, 0.23, 0.24]);
    expect(valuesOf(answer, 'backfilled').map(Number)).toEqual([1, 1, 1, 1, 1]);
    expect(valuesOf(answer, 'observed').map(Number)).toEqual([0, 0, 0, 0, 0]);
  });

  it('are asked through the provisioned data source within what the reader may ask for', async () => {
    const { uid, queryTimeoutSeconds } = readDataSource();
    const { rows } = await askAsGrafana(clickhouse.reader, 'SELECT 1', queryTimeoutSeconds);
    expect(rows).toEqual([[1]]);
    for (const { templating } of dashboards) {
      const source = templating.list.find(({ type }) => type === 'datasource');
      expect(source?.current?.value).toBe(uid);
    }
  });

  it('can be asked through a data source that is set up by hand, with the plugin’s own time limit', async () => {
    const { rows } = await askAsGrafana(clickhouse.reader, 'SELECT 1', 60);
    expect(rows).toEqual([[1]]);
  });

  describe('the alert rules', () => {
    const rules = readRules();

    it.each(rules.map((rule) => [rule.title, rule] as const))(
      '"%s" asks for one number per set of labels',
      async (_, rule) => {
        const { columns } = await askAsGrafana(clickhouse.reader, rule.sql);
        expect(columns.filter(({ kind }) => kind === 'number')).toHaveLength(1);
        expect(columns.filter(({ kind }) => kind !== 'number' && kind !== 'text')).toEqual([]);
        const labels = columns.filter(({ kind }) => kind === 'text').map(({ name }) => name);
        for (const [, label] of JSON.stringify(rule.annotations).matchAll(/\.Labels\.(\w+)/g))
          expect(labels).toContain(label);
      },
    );

    it('fire for what happened and not for what did not', async () => {
      const firing: string[] = [];
      for (const rule of rules) {
        const { columns, rows } = await askAsGrafana(clickhouse.reader, rule.sql);
        const at = columns.findIndex(({ kind }) => kind === 'number');
        if (rows.some((row) => rule.fires(Number(row[at])))) firing.push(rule.uid);
      }
      expect(firing).toContain('chancery-dead-letters');
      expect(firing).not.toContain('chancery-stopped');
      expect(firing).not.toContain('chancery-lag');
      expect(firing).not.toContain('chancery-undelivered');
    });

    it('lead to panels that are there', () => {
      for (const { uid, dashboardUid, panelId } of rules) {
        const panels = dashboards.find((dashboard) => dashboard.uid === dashboardUid)?.panels ?? [];
        expect(
          panels.map(({ id }) => id),
          uid,
        ).toContain(panelId);
      }
    });

    it('have no dollar sign, which Grafana would take for an environment variable', () => {
      expect(readFileSync(RULES, 'utf8')).not.toContain('$');
    });
  });

  it(`take at most ${WITHIN_MS / 1000} seconds per query`, async () => {
    // The processor time of the server is that of the query as long as nothing is inserted.
    await rig.service('collect').stop();
    await rig.drained();
    await rig.service('transform').stop();
    for (const sql of suspects) {
      const ms = await fastest(WITHIN_MS, async () => (await askTimed(clickhouse, sql)).ms);
      expect(ms, `milliseconds of\n${sql}`).toBeLessThanOrEqual(WITHIN_MS);
    }
  });
});
