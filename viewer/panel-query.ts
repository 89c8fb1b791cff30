import { UsageError } from '../core/index.js';
import type { TimeRange } from './time-range.js';

/** What `All` of a variable is called in its value. */
export const ALL = '$__all';

/** A template variable and what is chosen of it. */
export interface VariableChoice {
  /** One value, several, or `ALL`. */
  readonly value: string | readonly string[];
  /** Every value that can be chosen: what `ALL` stands for outside of `$__conditionalAll`. */
  readonly options: readonly string[];
}

/** Where a query of a dashboard is asked. */
export interface QueryContext {
  readonly range: TimeRange;
  /** Width of one bucket, milliseconds: `bucketMs`. */
  readonly bucketMs: number;
  readonly variables: ReadonlyMap<string, VariableChoice>;
}

/**
 * The SQL that Grafana's ClickHouse data source sends for the SQL of a panel, a variable or an alert: first
 * `$__conditionalAll`, then template variables, then the macros of time and interval.
 * @throws UsageError for a macro or a format that is not known, a wrong number of arguments, or a bracket left open
 */
export function expandQuery(sql: string, context: QueryContext): string {
  return expandMacros(fillVariables(dropConditions(sql, context), context), context);
}

const CONDITIONAL = '$__conditionalAll(';

/** The innermost and last one first, as the plugin does. */
function dropConditions(sql: string, { variables }: QueryContext): string {
  let text = sql;
  for (let at = text.lastIndexOf(CONDITIONAL); at >= 0; at = text.lastIndexOf(CONDITIONAL)) {
    const { args, end } = argumentsAt(text, at + CONDITIONAL.length - 1);
    const [condition, variable] = args;
    if (args.length !== 2 || condition === undefined || variable === undefined) {
      throw new UsageError(`$__conditionalAll takes a condition and a variable, not ${args.length} arguments`);
    }
    const name = /\$\{?(\w+)\}?/.exec(variable)?.[1] ?? '';
    const value = variables.get(name)?.value.toString();
    const dropped = value === '' || value === ALL;
    text = `${text.slice(0, at)}${dropped ? '1=1' : condition}${text.slice(end)}`;
  }
  return text;
}

/** `$name`, `${name}`, `${name:format}`; names that are no variable are left for the macros. */
function fillVariables(sql: string, { variables }: QueryContext): string {
  return sql.replace(/\$(?:(\w+)|\{(\w+)(?::(\w+))?\})/g, (whole, bare?: string, braced?: string, format?: string) => {
    const choice = variables.get(bare ?? braced ?? '');
    return choice ? formatted(choice, format) : whole;
  });
}

function formatted({ value, options }: VariableChoice, format: string | undefined): string {
  const chosen = value === ALL ? options : value;
  const list = typeof chosen === 'string' ? [chosen] : chosen;
  switch (format) {
    case undefined:
      return typeof chosen === 'string' ? chosen : `'${chosen.join("','")}'`;
    case 'raw':
    case 'csv':
      return list.join(',');
    case 'singlequote':
      return list.map((one) => `'${one.replaceAll("'", "\\'")}'`).join(',');
    default:
      throw new UsageError(`the format :${format} of a variable is not known; use :singlequote, :csv or :raw`);
  }
}

type Macro = (context: QueryContext, args: readonly string[]) => string;

const seconds = (time: Date): string => `toDateTime(${Math.floor(time.getTime() / 1000)})`;
const millis = (time: Date): string => `fromUnixTimestamp64Milli(${time.getTime()})`;
const day = (time: Date): string => `toDate('${time.toISOString().slice(0, 10)}')`;
const between = (column: string | undefined, { from, to }: TimeRange, written: (time: Date) => string): string =>
  `${column} >= ${written(from)} AND ${column} <= ${written(to)}`;
const wholeSeconds = (bucketMs: number): number => Math.max(1, Math.floor(bucketMs / 1000));

/** The plugin's macros, by name: how many arguments they take and what they become. */
const MACROS: Readonly<Record<string, readonly [count: number, macro: Macro]>> = {
  fromTime: [0, ({ range }) => seconds(range.from)],
  toTime: [0, ({ range }) => seconds(range.to)],
  fromTime_ms: [0, ({ range }) => millis(range.from)],
  toTime_ms: [0, ({ range }) => millis(range.to)],
  timeFilter: [1, ({ range }, [column]) => between(column, range, seconds)],
  timeFilter_ms: [1, ({ range }, [column]) => between(column, range, millis)],
  dateFilter: [1, ({ range }, [column]) => between(column, range, day)],
  interval_s: [0, ({ bucketMs }) => String(wholeSeconds(bucketMs))],
  timeInterval: [
    1,
    ({ bucketMs }, [column]) => `toStartOfInterval(toDateTime(${column}), INTERVAL ${wholeSeconds(bucketMs)} second)`,
  ],
  timeInterval_ms: [
    1,
    ({ bucketMs }, [column]) =>
      `toStartOfInterval(toDateTime64(${column}, 3), INTERVAL ${Math.max(1, Math.floor(bucketMs))} millisecond)`,
  ],
};

function expandMacros(sql: string, context: QueryContext): string {
  let text = sql;
  for (;;) {
    const found = /\$__(\w+)/.exec(text);
    if (!found) return text;
    const [count, macro] = MACROS[found[1] ?? ''] ?? unknown(found[0]);
    let end = found.index + found[0].length;
    let args: readonly string[] = [];
    if (count > 0) ({ args, end } = argumentsAt(text, end));
    if (args.length !== count) throw new UsageError(`${found[0]} takes ${count} arguments, not ${args.length}`);
    text = `${text.slice(0, found.index)}${macro(context, args)}${text.slice(end)}`;
  }
}

function unknown(macro: string): never {
  throw new UsageError(`the macro ${macro} is not known; known ones are $__${Object.keys(MACROS).join(', $__')}`);
}

/** The arguments between the bracket at `open` and its partner, split at commas outside of inner brackets. */
function argumentsAt(text: string, open: number): { args: string[]; end: number } {
  if (text[open] !== '(') return { args: [], end: open };
  const args: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < text.length; i++) {
    const c = text[i];
    if (c === '(') depth++;
    if (c === ')') depth--;
    if ((c === ',' && depth === 1) || depth === 0) {
      args.push(text.slice(start, i).trim());
      start = i + 1;
    }
    if (depth === 0) return { args, end: i + 1 };
  }
  throw new UsageError(`a bracket is not closed: ${text.slice(open, open + 60)}`);
}
