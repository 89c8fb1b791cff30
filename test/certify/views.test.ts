import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { readFigures } from '../../certify/figures/questions.js';
import { type Query, readAccounts, readCandles, readStreams } from '../../certify/recorded.js';

/** Views that no comparison asks and no compared view reads: why, and the tests that recompute them. */
const NOT_COMPARED: readonly (readonly [why: string, views: readonly string[]])[] = [
  [
    'event search, categories, tags and coins are not in the ledger; `test/sql/unchanged-entries.test.ts` and `test/sql/views.test.ts`',
    ['categories', 'category_changes', 'coin_changes', 'event_changes', 'market_changes', 'tag_changes', 'tags'],
  ],
  [
    'TP/SL orders and lists of single polls are not in the ledger; `test/sql/account-views.test.ts`',
    [
      ...['account_polls', 'balance_changes', 'order_changes', 'position_changes'],
      ...['position_stats', 'tpsl_orders'],
    ],
  ],
  [
    'a market counts if it was open for an hour before it closed; those of a run are open for 90 s × `--events` / `--pace`, and the ledger does not say since when; `test/sql/calibration.test.ts` and scikit-learn in `test/sql/engines/`',
    ['calibration_curve', 'calibration_forecasts', 'calibration_regression', 'calibration_scores'],
  ],
  ['aggregates of the exchange are not in the ledger; `test/sql/probability.test.ts`', ['candle_audit']],
  ['categories are not in the ledger; `test/sql/volume.test.ts`', ['volume_by_category']],
  ['completeness of histories, not of fills; `test/sql/periods.test.ts`', ['volume_periods']],
  ['readable rows of `position_days` and `trade_costs`; `test/sql/pnl.test.ts`', ['position_costs']],
  [
    'sums of coverage that is compared; `test/sql/coverage.test.ts` and `test/sql/candle-completeness.test.ts`',
    ['coverage_by_event', 'market_periods', 'skipped_chance_points'],
  ],
  [
    'rows of tables that are compared, for panels; `test/sql/panel-views.test.ts`',
    ['balance_series', 'latest_chances', 'market_ticks'],
  ],
  [
    'rows of tables about the pipeline, for panels; `test/sql/panel-views.test.ts`',
    [
      ...['audit_intervals', 'dead_letters_between', 'incomplete_polls', 'polls_between', 'record_bodies'],
      ...['record_delays', 'table_sizes'],
    ],
  ],
  [
    'about the pipeline, not about the exchange; `test/sql/views.test.ts` and `test/sql/feed-loss-estimate.test.ts`',
    ['feed_loss_estimate', 'freshness', 'pipeline_lag', 'undelivered'],
  ],
];

const FRAGMENTS = new Map(filesBelow('sql/fragments').map((path) => [nameOf(path), readFileSync(path, 'utf8')]));
const VIEWS = new Map(filesBelow('sql/views').map((path) => [nameOf(path), expanded(readFileSync(path, 'utf8'))]));

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .map((path) => `${folder}/${path}`);
}

function nameOf(path: string): string {
  return basename(path, '.sql');
}

/** With the fragments in it, which may contain others, and without comments. */
function expanded(sql: string): string {
  const text = sql.replaceAll(/^--.*$/gm, '');
  const more = text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => FRAGMENTS.get(name) ?? whole);
  return more === text ? text : expanded(more);
}

/** The views that certify asks: of its statements, without a server. */
async function asked(): Promise<string[]> {
  const statements: string[] = [];
  const query: Query = async (sql) => {
    statements.push(sql);
    return [];
  };
  await readStreams(query);
  await readAccounts(query);
  await readCandles(query, 60);
  await readFigures(query, { from: 0, to: 0 });
  const text = statements.join('\n');
  return [...VIEWS.keys()].filter((view) => new RegExp(`(FROM|JOIN) ${view}\\b`).test(text)).toSorted();
}

/** By view that a compared view reads, directly or through others, the compared one. */
function readBy(compared: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (view: string, by: string): void => {
    for (const [, read = ''] of (VIEWS.get(view) ?? '').matchAll(/\{database\}\.(\w+)/g)) {
      if (!VIEWS.has(read) || compared.includes(read) || found.has(read)) continue;
      found.set(read, by);
      visit(read, by);
    }
  };
  for (const view of compared) visit(view, view);
  return found;
}

it('docs/certified-views.md says of every view whether certify compares it', async () => {
  const compared = await asked();
  const through = readBy(compared);
  const reasons = new Map(NOT_COMPARED.flatMap(([why, views]) => views.map((view) => [view, why])));
  const twice = [...reasons.keys()].filter((view) => compared.includes(view) || through.has(view));
  expect(twice).toEqual([]);
  const lines = [...VIEWS.keys()].toSorted().map((view) => {
    const anchor = `[\`${view}\`](data-dictionary.md#${view})`;
    if (compared.includes(view)) return `| ${anchor} | yes | |`;
    const by = through.get(view);
    if (by !== undefined) return `| ${anchor} | through \`${by}\` | |`;
    return `| ${anchor} | no | ${reasons.get(view) ?? 'NO REASON IS GIVEN'} |`;
  });
  expect(
    lines.filter((line) => line.includes('NO REASON')).concat([...reasons.keys()].filter((one) => !VIEWS.has(one))),
  ).toEqual([]);
  const text = `# Which views the certificate compares

\`chancery certify\` ([reliability.md](reliability.md#the-certificate)) asks these views and compares their figures with the
ledger of the simulated exchange. “Through” another view: that view reads it. For the others, the last column has the reason,
and the tests that compute their figures in another way. This page is made by \`npx vitest run test/certify/views.test.ts --update\`.

| view | compared | why not |
| --- | --- | --- |
${lines.join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../docs/certified-views.md');
});
