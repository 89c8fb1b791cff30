import { quoteName } from '../warehouse/index.js';
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
  const names = meta.map(({ name }) => quoteName(name));
  const numbers = names.filter((_, i) => kinds[i] === 'number');
  const labels = names.filter((_, i) => kinds[i] === 'text');
  const micros = Math.max(1, Math.ceil(((to.getTime() - from.getTime()) * 1000) / columns));
  const position = `intDiv(toUnixTimestamp64Micro(toDateTime64(${AT}, 6)) - ${from.getTime()}000, ${micros})`;
  const inner = sql.trim().replace(/;$/, '');
  const [number] = meta.filter((_, i) => kinds[i] === 'number');
  if (number && numbers.length === 1 && FITS_FLOAT64.test(number.type))
    return { sql: reducedPairs({ inner, time, number, names, labels, position }), parameters };
  return {
    sql: `SELECT ${names.map((name, i) => `${ROW}.${i + 1} AS ${name}`).join(', ')}
FROM (
  SELECT arrayJoin(arrayDistinct(arrayConcat([argMin(${ROW}, ${AT}), argMax(${ROW}, ${AT})]${numbers.map(extremes).join('')}))) AS ${ROW}
  FROM (SELECT tuple(${names.join(', ')}) AS ${ROW}, ${quoteName(time.name)} AS ${AT}, * FROM (
${inner}
  ))
  GROUP BY ${[position, ...labels].join(', ')}
)
ORDER BY ${ROW}.${kinds.indexOf('time') + 1}`,
    parameters,
  };
}

/** Types whose numbers are the same as Float64. */
const FITS_FLOAT64 = /^(?:LowCardinality\()?(?:Nullable\()?(?:Float64|U?Int(?:8|16|32))\)*$/;

interface Column {
  readonly name: string;
  readonly type: string;
}

interface SinglePoints {
  readonly inner: string;
  readonly time: Column;
  readonly number: Column;
  readonly names: readonly string[];
  readonly labels: readonly string[];
  /** The number of the pixel column. */
  readonly position: string;
}

/**
 * As above, for one number per row, and several times faster: a point is an integer of 128 bits, time and number one after
 * the other, in the order of the numbers (`reduced_value`) or of the times (`reduced_point`).
 */
function reducedPairs({ inner, time, number, names, labels, position }: SinglePoints): string {
  const [timeName, numberName] = [quoteName(time.name), quoteName(number.name)];
  const columns = names.map((name) => {
    if (name === timeName)
      return `CAST(fromUnixTimestamp64Micro(toInt64(${ROW}.1 - ${MIDDLE_TIME}), 'UTC') AS ${time.type}) AS ${name}`;
    return name === numberName ? `${ROW}.2 AS ${name}` : name;
  });
  const numberOf = (bits: string) =>
    `toNullable(reinterpretAsFloat64(if(${bits} >= ${SIGN}, ${bits} - ${SIGN}, bitNot(${bits}))))`;
  const [high, low] = ['toUInt64(bitShiftRight(point, 64))', 'toUInt64(point)'];
  const both = (key: string, condition: string) => `[minIf(${key}, ${condition}), maxIf(${key}, ${condition})]`;
  const has = 'reduced_number IS NOT NULL';
  const rows = `if(countIf(${has}) > 0, arrayConcat(
      arrayMap(point -> (${low}, ${numberOf(high)}), ${both('reduced_value', has)}),
      arrayMap(point -> (${high}, ${numberOf(low)}), ${both('reduced_point', has)})), [])`;
  const gaps = `if(countIf(NOT ${has}) > 0, arrayMap(at -> (at, CAST(NULL AS Nullable(Float64))), ${both('reduced_micros', `NOT ${has}`)}), [])`;
  return `SELECT ${columns.join(', ')}
FROM (
  SELECT ${labels.map((label) => `${label}, `).join('')}arrayJoin(arrayDistinct(arrayConcat(${rows}, ${gaps}))) AS ${ROW}
  FROM (
    SELECT *, ${timeName} AS ${AT}, CAST(${numberName} AS Nullable(Float64)) AS reduced_any, if(isFinite(reduced_any), reduced_any, NULL) AS reduced_number,
      toUInt64(toUnixTimestamp64Micro(toDateTime64(${AT}, 6)) + ${MIDDLE_TIME}) AS reduced_micros,
      reinterpretAsUInt64(assumeNotNull(reduced_number)) AS reduced_bits,
      if(reduced_bits >= ${SIGN}, bitNot(reduced_bits), reduced_bits + ${SIGN}) AS reduced_order,
      bitShiftLeft(toUInt128(reduced_order), 64) + reduced_micros AS reduced_value,
      bitShiftLeft(toUInt128(reduced_micros), 64) + reduced_order AS reduced_point
    FROM (
${inner}
    )
  )
  GROUP BY ${[position, ...labels].join(', ')}
)
ORDER BY ${ROW}.1, ${ROW}.2`;
}

/** The sign of a Float64. */
const SIGN = '9223372036854775808';
/** Is added to times, so that none is negative. */
const MIDDLE_TIME = '4611686018427387904';
const ROW = 'reduced_row';
const AT = 'reduced_at';

/** The rows of the minimum, the maximum, and the first and last row without a value. */
function extremes(name: string): string {
  const has = `ifNull(isFinite(toFloat64(${name})), 0)`;
  const key = `(assumeNotNull(${name}), ${AT})`;
  const pair = (order: string, condition: string) =>
    `if(countIf(${condition}) > 0, [argMinIf(${ROW}, ${order}, ${condition}), argMaxIf(${ROW}, ${order}, ${condition})], [])`;
  return `,\n    ${pair(key, has)}, ${pair(AT, `NOT ${has}`)}`;
}
