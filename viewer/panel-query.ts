import { UsageError } from '../core/index.js';
import { quoteText } from '../warehouse/index.js';
import { ownValue } from './display/own-value.js';
import { ALL, VARIABLE_REFERENCE } from './display/variable-reference.js';
import { expandMacros } from './macros.js';
import { argumentsAt, quotedRegions, withoutComments } from './sql-text.js';
import type { MacroContext } from './time-range.js';

/** A template variable and its selected values. */
export interface VariableChoice {
  /** One value, several, or `ALL`. */
  readonly value: string | readonly string[];
  /** All selectable values: the expansion of `ALL` outside of `$__conditionalAll`. */
  readonly options: readonly string[];
  /** Of the file: what is inserted, as it is, where `ALL` is chosen. */
  readonly allValue?: string | undefined;
  /** Whether the dashboard's file has the values, not a query or the browser. */
  readonly fromFile?: boolean;
  /** Why it has no value; a query that uses it is not run. */
  readonly problem?: string | undefined;
}

/** The context of a dashboard's query. */
export interface QueryContext extends MacroContext {
  readonly variables: ReadonlyMap<string, VariableChoice>;
}

/**
 * The SQL that Grafana's ClickHouse data source sends for the SQL of a panel, a variable or an alert, without its comments.
 * Unlike the plugin, `:singlequote` escapes backslashes too.
 * @throws UsageError for an unknown macro or format, a wrong number of arguments, or an unclosed bracket
 */
export function expandQuery(sql: string, context: QueryContext): string {
  return expand(sql, context, (reference, choice) => ({ ...reference, text: formatted(choice, reference.format) }));
}

/** SQL with query parameters `{name:String}`, and their values. */
export interface BoundQuery {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * As `expandQuery`, but values of variables are query parameters: a value is never part of the SQL, except plain numbers
 * and values that the dashboard's file has.
 * @throws UsageError also for a variable that is used in another way than as a whole literal
 */
export function bindQuery(sql: string, context: QueryContext): BoundQuery {
  const parameters: Record<string, string> = {};
  const bind = (value: string) => {
    const name = `variable_${Object.keys(parameters).length}`;
    parameters[name] = value;
    return `{${name}:String}`;
  };
  return { sql: expand(sql, context, (reference, choice) => bound(reference, choice, bind)), parameters };
}

/** The statement of a bound query with literals instead of parameters. */
export function withLiterals({ sql, parameters }: BoundQuery): string {
  return sql.replace(/\{(variable_\d+):String\}/g, (whole, name: string) => {
    const value = parameters[name];
    return value === undefined ? whole : quoteText(value);
  });
}

/** A use of a variable in SQL: `text` from `start` to `end`, within the quotes from `quotes.start` to `quotes.end`. */
interface Reference {
  readonly name: string;
  readonly format: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly quotes: { readonly start: number; readonly end: number; readonly quote: string } | undefined;
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Fill = (reference: Reference, choice: VariableChoice) => Replacement;

/** First `$__conditionalAll`, then template variables, then the macros of time and interval. */
function expand(sql: string, context: QueryContext, fill: Fill): string {
  return expandMacros(fillVariables(dropConditions(withoutComments(sql), context), context, fill), context);
}

const CONDITIONAL = '$__conditionalAll(';

/** Replaces the innermost and last one first, as the plugin does. */
function dropConditions(sql: string, { variables }: QueryContext): string {
  let text = sql;
  for (let at = text.lastIndexOf(CONDITIONAL); at >= 0; at = text.lastIndexOf(CONDITIONAL)) {
    const { args, end } = argumentsAt(text, at + CONDITIONAL.length - 1);
    const [condition, variable] = args;
    if (args.length !== 2 || condition === undefined || variable === undefined) {
      throw new UsageError(`$__conditionalAll takes a condition and a variable, not ${args.length} arguments`);
    }
    const name = /\$\{?(\w+)\}?/.exec(variable)?.[1] ?? '';
    const value = usable(name, variables.get(name))?.value.toString();
    const dropped = value === '' || value === ALL;
    text = `${text.slice(0, at)}${dropped ? '1=1' : condition}${text.slice(end)}`;
  }
  return text;
}

/** Names that are not variables are left for the macros. */
function fillVariables(sql: string, context: QueryContext, fill: Fill): string {
  const regions = quotedRegions(sql);
  let text = '';
  let from = 0;
  for (const match of sql.matchAll(VARIABLE_REFERENCE)) {
    const [whole, bare, braced, format, bracketed, bracketedFormat] = match;
    const name = bare ?? braced ?? bracketed ?? '';
    const choice = usable(name, context.variables.get(name)) ?? globalVariable(name, context);
    if (!choice || match.index < from) continue;
    const start = match.index;
    const [left, right] = regions.find(([left, right]) => left < start && start < right) ?? [];
    const replacement = fill(
      {
        name,
        format: format ?? bracketedFormat,
        start,
        end: start + whole.length,
        quotes:
          left === undefined || right === undefined ? undefined : { start: left, end: right, quote: sql[left] ?? '' },
      },
      choice,
    );
    text += sql.slice(from, replacement.start) + replacement.text;
    from = replacement.end;
  }
  return text + sql.slice(from);
}

function usable(name: string, choice: VariableChoice | undefined): VariableChoice | undefined {
  if (choice?.problem !== undefined) throw new UsageError(`the variable ${name} has no value: ${choice.problem}`);
  return choice;
}

/** Grafana's own variables of the time range. */
function globalVariable(name: string, { range: { from, to } }: QueryContext): VariableChoice | undefined {
  const ms = to.getTime() - from.getTime();
  const values: Readonly<Record<string, number | string>> = {
    __from: from.getTime(),
    __to: to.getTime(),
    __range_ms: ms,
    __range_s: Math.round(ms / 1000),
    __range: `${Math.round(ms / 1000)}s`,
  };
  const value = ownValue(values, name);
  return value === undefined ? undefined : { value: String(value), options: [], fromFile: true };
}

const listOf = ({ value, options }: VariableChoice): readonly string[] => {
  const chosen = value === ALL ? options : value;
  return typeof chosen === 'string' ? [chosen] : chosen;
};

const isSeveral = ({ value }: VariableChoice): boolean => value === ALL || typeof value !== 'string';

const ownAll = ({ value, allValue }: VariableChoice): string | undefined => (value === ALL ? allValue : undefined);

function formatted(choice: VariableChoice, format: string | undefined): string {
  const all = ownAll(choice);
  if (all !== undefined) return all;
  const list = listOf(choice);
  switch (format) {
    case undefined:
      return isSeveral(choice) ? `'${list.join("','")}'` : (list[0] ?? '');
    case 'raw':
    case 'csv':
      return list.join(',');
    case 'singlequote':
    case 'sqlstring':
      return list.map(quoteText).join(',');
    default:
      throw new UsageError(`the format :${format} of a variable is unknown; use :singlequote, :csv or :raw`);
  }
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

function bound(reference: Reference, choice: VariableChoice, bind: (value: string) => string): Replacement {
  const { name, format, start, end, quotes } = reference;
  const all = ownAll(choice);
  if (all !== undefined) return { start, end, text: all };
  const list = listOf(choice);
  const quoting = format === 'singlequote' || format === 'sqlstring' || (format === undefined && isSeveral(choice));
  if (quotes === undefined && quoting) return { start, end, text: list.map(bind).join(',') };
  const whole = quotes?.quote === "'" && quotes.start + 1 === start && quotes.end - 1 === end;
  if (whole && !quoting && list.length === 1) return { ...quotes, text: bind(list[0] ?? '') };
  if (whole && format === undefined && list.length === 1) return { ...quotes, text: bind(list[0] ?? '') };
  if (!list.every((value) => choice.fromFile === true || NUMBER.test(value))) {
    throw new UsageError(
      `the variable ${name} is not a whole literal in the SQL: there it can only be a number or a value of the dashboard's file`,
    );
  }
  return { start, end, text: formatted(choice, format) };
}
