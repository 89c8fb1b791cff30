import { dashboard, panel, target } from './dashboards.js';

const rows = (columns: string, from = 0, to = 60) =>
  `SELECT toDateTime(1763800000 + 60 * number) AS time, ${columns} FROM numbers(${from}, ${to - from}) ORDER BY time`;
const MISSING = 'toFloat64(number BETWEEN 20 AND 29 OR number = 45) AS missing';
/** No color of it is that of a gap's hatching. */
const BLUE = { mode: 'fixed', fixedColor: '#00c8ff' };
const series = (sql: string) => ({ targets: [target(sql, 'timeSeries')] });
const at = (x: number, y: number, w = 12) => ({ gridPos: { x, y, w, h: 8 } });
const blue = { fieldConfig: { defaults: { color: BLUE, custom: { fillOpacity: 100 } }, overrides: [] } };

/** A panel of each type that has axes or a dial; of those over time, buckets 20 to 29 and 45 of 60 are missing. */
export const kindsDashboard = dashboard(
  'kinds',
  [
    panel(1, 'state-timeline', rows(`toString(intDiv(number, 7) % 3) AS state, number % 2 = 0 AS even, ${MISSING}`), {
      ...at(0, 0),
      ...blue,
      options: { showValue: 'never' },
    }),
    panel(2, 'heatmap', '', {
      ...at(12, 0),
      ...series(rows(`abs(sin(number / 9)) AS first, abs(cos(number / 9)) AS second, ${MISSING}`)),
      options: { color: { mode: 'opacity', fill: '#00c8ff', min: -1, max: 0 } },
    }),
    panel(3, 'heatmap', '', {
      ...at(0, 8),
      ...series(rows(`number * 10 + cityHash64(number) % 97 AS value, ${MISSING}`)),
      options: {
        calculate: true,
        calculation: { xBuckets: { mode: 'size', value: '3m' } },
        color: { mode: 'opacity', fill: '#00c8ff', min: -1, max: 0 },
      },
    }),
    panel(
      4,
      'barchart',
      "SELECT concat('name ', toString(number)) AS name, number AS a, 6 - number AS b FROM numbers(6)",
      {
        ...at(12, 8),
        options: { stacking: 'normal' },
      },
    ),
    panel(5, 'histogram', 'SELECT number % 17 AS value FROM numbers(500)', {
      ...at(0, 16, 8),
      options: { bucketSize: 1 },
    }),
    panel(6, 'xychart', 'SELECT number AS x, sin(number / 8) AS y FROM numbers(60)', at(8, 16, 8)),
    panel(7, 'gauge', 'SELECT 0.62 AS used, 0.93 AS full', {
      ...at(16, 16, 8),
      fieldConfig: {
        defaults: {
          unit: 'percentunit',
          decimals: 0,
          min: 0,
          max: 1,
          color: { mode: 'thresholds' },
          thresholds: {
            mode: 'absolute',
            steps: [
              { color: 'green', value: null },
              { color: 'red', value: 0.8 },
            ],
          },
        },
        overrides: [],
      },
    }),
    panel(
      8,
      'barchart',
      "SELECT concat('a name that is longer than an axis is wide ', toString(number)) AS name, number / 5 AS share FROM numbers(14)",
      at(0, 24),
    ),
    panel(9, 'xychart', 'SELECT exp(number / 4) AS x, number AS a, 30 - number AS b FROM numbers(30)', {
      ...at(12, 24),
      fieldConfig: {
        defaults: { custom: { show: 'points+lines', scaleDistribution: { type: 'log', log: 10 } } },
        // Grafana writes a property that was added and never set without a value.
        overrides: [{ matcher: { id: 'byName', options: 'a' }, properties: [{ id: 'unit' }] }],
      },
    }),
    panel(10, 'table', '', {
      ...at(0, 32, 24),
      targets: [
        target("SELECT concat('m', toString(number)) AS market, number AS bid FROM numbers(3)"),
        {
          ...target("SELECT concat('m', toString(number)) AS market, number + 10 AS ask FROM numbers(1, 3)"),
          refId: 'B',
        },
      ],
      transformations: [
        { id: 'joinByField', options: { byField: 'market', mode: 'outer' } },
        { id: 'organize', options: { renameByName: { bid: 'Bid' }, indexByName: { ask: 0, market: 1, bid: 2 } } },
        { id: 'sortBy', options: { sort: [{ field: 'market', desc: true }] } },
      ],
      fieldConfig: {
        defaults: {},
        overrides: [
          {
            matcher: { id: 'byName', options: 'ask' },
            properties: [
              {
                id: 'links',
                value: [
                  { title: 'Quotes', url: `/d/quotes?of=\${__data.fields.market}` },
                  { title: `Trades of \${__data.fields.market}`, url: '/d/trades' },
                ],
              },
            ],
          },
        ],
      },
    }),
  ],
  { time: { from: '1763800000000', to: '1763803600000' } },
);
