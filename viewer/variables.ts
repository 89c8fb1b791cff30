import { UsageError } from '../core/index.js';
import type { ViewedDashboard, ViewedVariable } from './dashboard-file.js';
import { QueryError } from './database.js';
import { ownValue } from './display/own-value.js';
import { ALL, VARIABLE_REFERENCE } from './display/variable-reference.js';
import { durationOf } from './macros.js';
import { type BoundQuery, bindQuery, type VariableChoice } from './panel-query.js';
import { bucketMs, intervalMs, type TimeRange } from './time-range.js';
import { type Option, sortedOptions, uniqueByValue, type VariablePatterns } from './variable-options.js';

const MAX_TEXT = 200;
/** Chosen values that are looked up beyond the LIMIT of their variable's query. */
const MAX_LOOKED_UP = 20;

/** The values of variables as the browser has them: by name, one or several. */
export type ChosenValues = Readonly<Record<string, readonly string[]>>;

/** A variable with its options and its value, for the page. */
export interface ResolvedVariable {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly description: string;
  readonly multi: boolean;
  readonly includeAll: boolean;
  readonly hidden: boolean;
  readonly options: readonly Option[];
  readonly value: readonly string[];
  /** Why it cannot be used. */
  readonly problem?: string;
}

/** What the options of variables come from. */
export interface OptionSource {
  /** Runs the query of a variable. */
  readonly ask: (query: BoundQuery) => Promise<readonly (readonly unknown[])[]>;
  readonly patterns: VariablePatterns;
}

/** The variables of a dashboard with their options, each resolved after those before it, and the choices for its queries. */
export async function resolveVariables(
  { templating }: ViewedDashboard,
  chosen: ChosenValues,
  range: TimeRange,
  source: OptionSource,
): Promise<{ resolved: ResolvedVariable[]; choices: ReadonlyMap<string, VariableChoice> }> {
  const choices = new Map<string, VariableChoice>();
  const resolved: ResolvedVariable[] = [];
  for (const variable of templating.list) {
    const one = await resolveOne(variable, ownValue(chosen, variable.name), range, choices, source);
    resolved.push(one);
    const values = one.options.map(({ value }) => value);
    const single = variable.multi !== true || one.value.includes(ALL);
    const [first = ''] = one.value;
    choices.set(variable.name, {
      value: single ? (first === autoOf(variable) ? autoInterval(variable, range) : first) : one.value,
      options: values,
      allValue: variable.includeAll === true ? variable.allValue || undefined : undefined,
      fromFile: ['custom', 'interval', 'constant', 'datasource'].includes(variable.type),
      problem: one.problem,
    });
  }
  return { resolved, choices };
}

/**
 * The values of the browser that are not among the options of their variable, as a message; undefined when all are.
 * @param resolved with these values as chosen
 */
export function foreignValue(resolved: readonly ResolvedVariable[], chosen: ChosenValues): string | undefined {
  for (const [name, values] of Object.entries(chosen)) {
    const variable = resolved.find((one) => one.name === name);
    if (!variable) return `the dashboard has no variable ${JSON.stringify(name.slice(0, 40))}`;
    // Panels that use one without options name it.
    if (variable.problem !== undefined || values.every((value) => variable.value.includes(value))) continue;
    return variable.type === 'textbox' && values.length === 1
      ? `the variable ${name} takes at most ${MAX_TEXT} characters, and not the text ${ALL}`
      : `a value of the variable ${name} is not one of its options`;
  }
  return undefined;
}

async function resolveOne(
  variable: ViewedVariable,
  chosen: readonly string[] | undefined,
  range: TimeRange,
  choices: ReadonlyMap<string, VariableChoice>,
  source: OptionSource,
): Promise<ResolvedVariable> {
  const { name, type } = variable;
  const about = {
    name,
    type,
    label: variable.label || name,
    description: variable.description ?? '',
    multi: variable.multi === true,
    includeAll: variable.includeAll === true,
    hidden: variable.hide === 2 || type === 'constant' || type === 'datasource',
  };
  if (type === 'textbox') {
    const text = (chosen?.[0] ?? currentOf(variable)[0] ?? queryText(variable)).slice(0, MAX_TEXT);
    return { ...about, options: [], value: [text === ALL ? '' : text] };
  }
  try {
    const options = (await optionsOf(variable, chosen, range, choices, source)).filter(({ value }) => value !== ALL);
    return { ...about, options, value: selected(about, options, chosen, currentOf(variable)) };
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof QueryError)) throw error;
    const problem = error instanceof QueryError ? `its query failed: ${error.message}` : error.message;
    return { ...about, options: [], value: [''], problem };
  }
}

/** The chosen values that are options, else the file's, else All, else the first option. */
function selected(
  { multi, includeAll }: { multi: boolean; includeAll: boolean },
  options: readonly Option[],
  chosen: readonly string[] | undefined,
  current: readonly string[],
): readonly string[] {
  const known = new Set(options.map(({ value }) => value));
  for (const wanted of [chosen ?? [], current]) {
    if (includeAll && wanted.includes(ALL)) return [ALL];
    const kept = wanted.filter((value) => known.has(value));
    if (kept.length > 0) return multi ? [...new Set(kept)] : kept.slice(0, 1);
  }
  if (includeAll) return [ALL];
  return options.slice(0, 1).map(({ value }) => value);
}

/** The option of an interval variable that depends on the time range. */
const autoOf = ({ name }: ViewedVariable): string => `$__auto_interval_${name}`;

function autoInterval({ auto_count, auto_min }: ViewedVariable, range: TimeRange): string {
  return durationOf(bucketMs(range, auto_count, intervalMs(auto_min)));
}

const currentOf = ({ current }: ViewedVariable): readonly string[] => [current?.value ?? []].flat();
const queryText = ({ query }: ViewedVariable): string => (typeof query === 'string' ? query : '');

/** The values of a custom variable: `1 minute : 60, 5 minutes : 300`; `\,` is a comma of a value. */
export function customValues(query: string): Option[] {
  return query.split(/(?<!\\),/).map((entry) => {
    const [text = '', value = text] = entry
      .replaceAll('\\,', ',')
      .split(' : ')
      .map((piece) => piece.trim());
    return { text, value };
  });
}

async function optionsOf(
  variable: ViewedVariable,
  chosen: readonly string[] | undefined,
  range: TimeRange,
  choices: ReadonlyMap<string, VariableChoice>,
  source: OptionSource,
): Promise<readonly Option[]> {
  switch (variable.type) {
    case 'custom':
      return customValues(queryText(variable));
    case 'interval':
      return [
        ...(variable.auto === true ? [{ text: 'auto', value: autoOf(variable) }] : []),
        ...customValues(queryText(variable)),
      ];
    case 'constant':
      return [{ text: queryText(variable), value: queryText(variable) }];
    case 'datasource':
      return [{ text: 'Chancery', value: 'chancery' }];
    case 'query': {
      const sql = typeof variable.query === 'string' ? variable.query : variable.query?.rawSql;
      if (!sql) throw new UsageError(`the variable ${variable.name} has no SQL`);
      const query = bindQuery(sql, { range, bucketMs: 1000, variables: choices });
      const rows = await source.ask(query);
      const listed = new Set(rows.map(([value]) => String(value ?? '')));
      const wanted = (chosen ?? []).filter((value) => value !== ALL && !listed.has(value)).slice(0, MAX_LOOKED_UP);
      const lookup = lookupBeyondLimit(query, rows, wanted);
      const beyond = lookup ? await source.ask(lookup) : [];
      const options = [...rows, ...beyond].map(([value, text = value]) => ({
        text: String(text ?? ''),
        value: String(value ?? ''),
      }));
      return sortedOptions(matching(variable, options, choices, source.patterns), variable.sort ?? 0);
    }
    default:
      throw new UsageError(`variables of the type ${variable.type} are not supported`);
  }
}

/**
 * Asks a variable's query for the rows with these values in the first column that its LIMIT left out; undefined where it left out
 * none.
 * @param rows of the query
 */
function lookupBeyondLimit(
  { sql, parameters }: BoundQuery,
  rows: readonly (readonly unknown[])[],
  values: readonly string[],
): BoundQuery | undefined {
  const end = /\sLIMIT\s+(\d+)\s*$/i.exec(sql);
  const columns = rows[0]?.length ?? 0;
  if (!end || columns === 0 || rows.length < Number(end[1]) || values.length === 0) return undefined;
  const named = Object.fromEntries(values.map((value, n) => [`looked_up_${n}`, value]));
  const list = Object.keys(named).map((name) => `{${name}:String}`);
  const read = Array.from({ length: columns }, (_, n) => `one.${n + 1}`);
  return {
    sql: `SELECT ${read.join(', ')} FROM (SELECT tuple(*) AS one FROM (\n${sql.slice(0, end.index)}\n)) WHERE toString(one.1) IN (${list.join(', ')})`,
    parameters: { ...parameters, ...named },
  };
}

function matching(
  { name, regex, regexApplyTo }: ViewedVariable,
  options: readonly Option[],
  choices: ReadonlyMap<string, VariableChoice>,
  patterns: VariablePatterns,
): readonly Option[] {
  if (!regex) return uniqueByValue(options);
  const references = [...regex.matchAll(VARIABLE_REFERENCE)].map((match) => match[1] ?? match[2] ?? match[4] ?? '');
  if (references.some((one) => choices.has(one)))
    throw new UsageError(`the regex of the variable ${name} has variables, which is not supported`);
  return patterns.apply(regex, options, regexApplyTo === 'text' ? 'text' : 'value');
}
