import type { ViewedPanel } from './dashboard-file.js';
import { asRecord } from './display/fields.js';
import { type CompactResult, kindOf } from './frames.js';
import type { BoundQuery } from './panel-query.js';
import type { TimeRange } from './time-range.js';

/** Points of a line per pixel column: the first, the minimum, the maximum and the last; NULLs come in addition. */
export const POINTS_PER_COLUMN = 4;

/** Calculations of a legend that are the same for a reduced series. */
const KEPT_CALCULATIONS = new Set(['first', 'firstNotNull', 'last', 'lastNotNull', 'min', 'max', 'range', 'diff']);

/** Whether a panel says the same of a reduced result: it draws lines that are not added up, and calculates nothing else. */
export function isReducible({ type, fieldConfig, options, transformations }: ViewedPanel): boolean {
  const custom = asRecord(fieldConfig.defaults['custom']);
  const stacking = asRecord(custom['stacking'])['mode'] ?? 'none';
  const properties = fieldConfig.overrides.flatMap((one) => one.properties.map(({ id }) => id));
  const { calcs } = asRecord(options['legend']);
  return (
    type === 'timeseries' &&
    stacking === 'none' &&
    !properties.includes('custom.stacking') &&
    (transformations ?? []).length === 0 &&
    (!Array.isArray(calcs) || calcs.every((one) => KEPT_CALCULATIONS.has(String(one))))
  );
}

/**
 * The query of a series as one that returns, of each pixel column, the rows that change what is drawn. Undefined where the
 * columns of the result are not one time, numbers, and texts that name the series.
 * @param columns of the panel, in pixels
 */
export function reducedQuery(
  { sql, parameters }: BoundQuery,
  meta: CompactResult['meta'],
  { from, to }: TimeRange,
  columns: number,
): BoundQuery | undefined {
  const kinds = meta.map(({ type }) => kindOf(type));
  const time = meta[kinds.indexOf('time')];
  if (!time?.type.startsWith('DateTime') || kinds.filter((kind) => kind === 'time').length > 1) return undefined;
  if (kinds.includes('other') || new Set(meta.map(({ name }) => name)).size < meta.length) return undefined;
  const names = meta.map(({ name }) => identifier(name));
  const numbers = names.filter((_, i) => kinds[i] === 'number');
  const labels = names.filter((_, i) => kinds[i] === 'text');
  const micros = Math.max(1, Math.ceil(((to.getTime() - from.getTime()) * 1000) / columns));
  const position = `intDiv(toUnixTimestamp64Micro(toDateTime64(${AT}, 6)) - ${from.getTime()}000, ${micros})`;
  return {
    sql: `SELECT ${names.map((name, i) => `${ROW}.${i + 1} AS ${name}`).join(', ')}
FROM (
  SELECT arrayJoin(arrayDistinct(arrayConcat([argMin(${ROW}, ${AT}), argMax(${ROW}, ${AT})]${numbers.map(extremes).join('')}))) AS ${ROW}
  FROM (SELECT tuple(${names.join(', ')}) AS ${ROW}, ${identifier(time.name)} AS ${AT}, * FROM (
${sql.trim().replace(/;$/, '')}
  ))
  GROUP BY ${[position, ...labels].join(', ')}
)
ORDER BY ${ROW}.${kinds.indexOf('time') + 1}`,
    parameters,
  };
}

const ROW = 'reduced_row';
const AT = 'reduced_at';

const identifier = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/** The rows of the minimum, the maximum, and the first and last row without a value. */
function extremes(name: string): string {
  const has = `ifNull(isFinite(toFloat64(${name})), 0)`;
  const key = `(assumeNotNull(${name}), ${AT})`;
  const pair = (order: string, condition: string) =>
    `if(countIf(${condition}) > 0, [argMinIf(${ROW}, ${order}, ${condition}), argMaxIf(${ROW}, ${order}, ${condition})], [])`;
  return `,\n    ${pair(key, has)}, ${pair(AT, `NOT ${has}`)}`;
}
