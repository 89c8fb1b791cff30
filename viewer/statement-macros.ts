import { UsageError } from '../core/index.js';
import { argumentsAt, topLevelWords } from './sql-text.js';
import { type MacroContext, wholeSeconds } from './time-range.js';

/** The clauses after a statement macro; all but `where` begin with their keyword. */
interface Clauses {
  readonly from: string;
  readonly where: string;
  readonly groupBy: string;
  readonly having: string;
  readonly orderBy: string;
  readonly limit: string;
  readonly settings: string;
}

type StatementMacro = (args: readonly [string, string, string], tail: Clauses, context: MacroContext) => string;

/** Seconds since the previous bucket of the same series; 0 for its first one. */
const STEP = 't - lagInFrame(t, 1, t) OVER w';
const change = (value: string): string => `max(${value}) - lagInFrame(max(${value}), 1, max(${value})) OVER w`;

/** Macros that rewrite the whole statement, the clauses after them included. */
const STATEMENT_MACROS: Readonly<Record<string, StatementMacro>> = {
  columns: (args, tail) => series('$__columns', args, tail, undefined),
  rateColumns: (args, tail) => series('$__rateColumns', args, tail, (v) => `if((${STEP}) = 0, nan, ${v} / (${STEP}))`),
  perSecondColumns: (args, tail) =>
    series(
      '$__perSecondColumns',
      args,
      tail,
      (v) => `if((${STEP}) = 0 OR (${change(v)}) < 0, nan, (${change(v)}) / (${STEP}))`,
    ),
  increaseColumns: (args, tail) =>
    series(
      '$__increaseColumns',
      args,
      tail,
      (v) => `if((${STEP}) = 0 OR (${change(v)}) < 0, nan, toFloat64(${change(v)}))`,
    ),
  lttb,
};

const CALL = new RegExp(`\\$__(${Object.keys(STATEMENT_MACROS).join('|')})\\b`, 'g');

/** @throws UsageError when the macro is in brackets, not the only one, or has other clauses than it can rewrite */
export function expandStatementMacro(sql: string, context: MacroContext): string {
  const calls = [...sql.matchAll(CALL)];
  const [call] = calls;
  if (!call) return sql;
  if (calls.length > 1) throw new UsageError(`a query may have one macro like ${call[0]}, not ${calls.length}`);
  if (inBrackets(sql, call.index)) throw new UsageError(`${call[0]} must be outside of brackets`);
  const { args, end } = argumentsAt(sql, call.index + call[0].length);
  const [a, b, c] = args;
  if (args.length !== 3 || a === undefined || b === undefined || c === undefined)
    throw new UsageError(`${call[0]} takes 3 arguments, not ${args.length}`);
  const written = STATEMENT_MACROS[call[1] ?? '']?.([a, b, c], clausesOf(call[0], sql.slice(end)), context) ?? '';
  return sql.slice(0, call.index) + written;
}

function inBrackets(sql: string, at: number): boolean {
  return topLevelWords(`${sql.slice(0, at)} here`, /here/).at(-1)?.end !== at + 5;
}

const KEYWORDS = /WHERE|GROUP\s+BY|HAVING|ORDER\s+BY|LIMIT|SETTINGS/;
const ORDER = ['WHERE', 'GROUP BY', 'HAVING', 'ORDER BY', 'LIMIT', 'SETTINGS'];

function clausesOf(macro: string, text: string): Clauses {
  const tail = text.trim().replace(/;$/, '').trim();
  if (!/^FROM\b/i.test(tail)) throw new UsageError(`${macro} must be followed by a FROM clause`);
  const starts = topLevelWords(tail, KEYWORDS);
  const ranks = starts.map(({ word }) => ORDER.indexOf(word));
  if (ranks.some((rank, i) => i > 0 && rank <= (ranks[i - 1] ?? 0)))
    throw new UsageError(`the clauses after ${macro} must be in the order ${ORDER.join(', ')}`);
  const clause = (word: string, keyword = true) => {
    const i = starts.findIndex((one) => one.word === word);
    const start = starts[i];
    return start ? tail.slice(keyword ? start.at : start.end, starts[i + 1]?.at).trim() : '';
  };
  return {
    from: tail.slice(0, starts[0]?.at).trim(),
    where: clause('WHERE', false),
    groupBy: clause('GROUP BY'),
    having: clause('HAVING'),
    orderBy: clause('ORDER BY'),
    limit: clause('LIMIT'),
    settings: clause('SETTINGS'),
  };
}

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');
const filtered = (time: string, where: string): string =>
  `WHERE $__timeFilter(${time})${where === '' ? '' : ` AND (${where})`}`;

/** `expression AS alias`, divided at the last AS outside of brackets. */
function aliased(argument: string, fallback: string): { expression: string; alias: string } {
  const as = topLevelWords(argument, /AS/).at(-1);
  if (!as || as.at === 0) return { expression: argument, alias: fallback };
  return { expression: argument.slice(0, as.at).trim(), alias: argument.slice(as.end).trim() };
}

/** One row per bucket and key; `overWindow` computes the value from the previous bucket of the same key. */
function series(
  macro: string,
  [time, key, value]: readonly [string, string, string],
  tail: Clauses,
  overWindow: ((value: string) => string) | undefined,
): string {
  if (tail.groupBy !== '') throw new UsageError(`${macro} groups by itself: remove the GROUP BY clause`);
  const keys = aliased(key, 'metric');
  const values = aliased(value, 'value');
  const drawn = overWindow ? overWindow(values.expression) : values.expression;
  return joined(
    `SELECT $__timeInterval(${time}) AS t, toString(${keys.expression}) AS ${keys.alias}, ${drawn} AS ${values.alias}`,
    tail.from,
    filtered(time, tail.where),
    `GROUP BY t, ${keys.alias}`,
    tail.having,
    overWindow
      ? `WINDOW w AS (PARTITION BY ${keys.alias} ORDER BY t ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`
      : '',
    tail.orderBy || `ORDER BY t, ${keys.alias}`,
    tail.limit,
    tail.settings,
  );
}

const bare = (expression: string, fallback: string): string =>
  /^[A-Za-z_]\w*$/.test(expression) ? expression : fallback;

/** ClickHouse's aggregate `lttb`; with GROUP BY, over the aggregated rows. */
function lttb([count, x, y]: readonly [string, string, string], tail: Clauses, context: MacroContext): string {
  const xs = aliased(x, bare(x, 'x'));
  const ys = aliased(y, bare(y, 'y'));
  const where = filtered(xs.expression, tail.where);
  const buckets = bucketsOf(count, context);
  const named = ({ expression, alias }: typeof xs) => (expression === alias ? alias : `${expression} AS ${alias}`);
  const points =
    tail.groupBy === ''
      ? joined(
          `SELECT arrayJoin(lttb(${buckets})(${x}, ${y})) AS point`,
          tail.from,
          where,
          tail.having,
          tail.orderBy,
          tail.limit,
          tail.settings,
        )
      : `SELECT arrayJoin(lttb(${buckets})(${xs.alias}, ${ys.alias})) AS point FROM (${joined(
          `SELECT ${named(xs)}, ${named(ys)}`,
          tail.from,
          where,
          tail.groupBy,
          tail.having,
          tail.orderBy || `ORDER BY ${xs.alias}`,
          tail.limit,
          tail.settings,
        )})`;
  return `SELECT point.1 AS ${xs.alias}, point.2 AS ${ys.alias} FROM (${points}) ORDER BY ${xs.alias}`;
}

function bucketsOf(count: string, { range, bucketMs }: MacroContext): string {
  if (/^auto$/i.test(count)) {
    const seconds = (range.to.getTime() - range.from.getTime()) / 1000;
    return String(Math.max(1, Math.floor(seconds / wholeSeconds(bucketMs))));
  }
  if (/^\d*[1-9]\d*$/.test(count)) return count;
  throw new UsageError(`the buckets of $__lttb are a positive integer or auto, not ${count}`);
}
