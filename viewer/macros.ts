import { UsageError } from '../core/index.js';
import { ownValue } from './display/own-value.js';
import { argumentsAt } from './sql-text.js';
import { expandStatementMacro } from './statement-macros.js';
import { type MacroContext, type TimeRange, wholeSeconds } from './time-range.js';

type Macro = (context: MacroContext, args: readonly string[]) => string;

const seconds = (time: Date): string => `toDateTime(${Math.floor(time.getTime() / 1000)})`;
const millis = (time: Date): string => `fromUnixTimestamp64Milli(${time.getTime()})`;
const day = (time: Date): string => `toDate('${time.toISOString().slice(0, 10)}')`;
const between = (column: string | undefined, { from, to }: TimeRange, written: (time: Date) => string): string =>
  `${column} >= ${written(from)} AND ${column} <= ${written(to)}`;
const bucketOf = (column: string | undefined, width: number): string =>
  `toStartOfInterval(toDateTime(${column}), INTERVAL ${width} second)`;

const dateTimeFilter: Macro = ({ range }, [date, time]) =>
  `(${between(date, range, day)}) AND (${between(time, range, seconds)})`;

/** The plugin's macros, by name: number of arguments and expansion. */
const MACROS: Readonly<Record<string, readonly [count: number, macro: Macro]>> = {
  fromTime: [0, ({ range }) => seconds(range.from)],
  toTime: [0, ({ range }) => seconds(range.to)],
  fromTime_ms: [0, ({ range }) => millis(range.from)],
  toTime_ms: [0, ({ range }) => millis(range.to)],
  timeFrom: [1, ({ range }, [column]) => `${column} >= ${seconds(range.from)}`],
  timeTo: [1, ({ range }, [column]) => `${column} <= ${seconds(range.to)}`],
  timeFilter: [1, ({ range }, [column]) => between(column, range, seconds)],
  timeFilter_ms: [1, ({ range }, [column]) => between(column, range, millis)],
  dateFilter: [1, ({ range }, [column]) => between(column, range, day)],
  dateTimeFilter: [2, dateTimeFilter],
  dt: [2, dateTimeFilter],
  interval: [0, ({ bucketMs }) => durationOf(bucketMs)],
  interval_ms: [0, ({ bucketMs }) => String(Math.max(1, Math.floor(bucketMs)))],
  interval_s: [0, ({ bucketMs }) => String(wholeSeconds(bucketMs))],
  timeInterval: [1, ({ bucketMs }, [column]) => bucketOf(column, wholeSeconds(bucketMs))],
  timeInterval_ms: [
    1,
    ({ bucketMs }, [column]) =>
      `toStartOfInterval(toDateTime64(${column}, 3), INTERVAL ${Math.max(1, Math.floor(bucketMs))} millisecond)`,
  ],
  timeGroup: [2, (_, [column, period = '']) => bucketOf(column, secondsOf(period.replace(/^['"]|['"]$/g, '')))],
};

const DURATIONS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** As Grafana writes `$__interval`: `500ms`, `20s`, `5m`. */
export function durationOf(ms: number): string {
  const [unit, size] = DURATIONS.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

const PERIOD_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Seconds of a duration as Go writes it: `90s`, `1h30m`. */
function secondsOf(period: string): number {
  const parts = [...period.matchAll(/(\d+(?:\.\d+)?)(ms|[smh])/g)];
  const seconds = Math.round(
    parts.reduce((sum, [, n, unit]) => sum + Number(n) * (PERIOD_SECONDS[unit ?? ''] ?? 0), 0),
  );
  if (seconds > 0 && parts.map(([text]) => text).join('') === period) return seconds;
  throw new UsageError(`the interval of $__timeGroup is ${JSON.stringify(period)}, not like 5m`);
}

/**
 * Expands the plugin's macros in SQL without comments: first the one that rewrites its whole statement, then the others.
 * @throws UsageError for an unknown macro, a wrong number of arguments, or an unclosed bracket
 */
export function expandMacros(sql: string, context: MacroContext): string {
  let text = expandStatementMacro(sql, context);
  for (;;) {
    const found = /\$(?:__(\w+)|\{__(interval(?:_ms)?)\})/.exec(text);
    if (!found) return withoutReferences(text);
    const [count, macro] = ownValue(MACROS, found[1] ?? found[2] ?? '') ?? unknown(found[0]);
    let end = found.index + found[0].length;
    let args: readonly string[] = [];
    if (count > 0) ({ args, end } = argumentsAt(text, end));
    if (args.length !== count) throw new UsageError(`${found[0]} takes ${count} arguments, not ${args.length}`);
    text = `${text.slice(0, found.index)}${macro(context, args)}${text.slice(end)}`;
  }
}

/** Grafana's own variables that are not known would otherwise be texts of the query. */
function withoutReferences(sql: string): string {
  const [reference] = /\$\{__[^{}]*\}/.exec(sql) ?? [];
  if (reference === undefined) return sql;
  throw new UsageError(`the viewer does not support the variable ${reference}`);
}

function unknown(macro: string): never {
  throw new UsageError(`unknown macro ${macro}; known ones are $__${Object.keys(MACROS).join(', $__')}`);
}
