import PQueue from 'p-queue';
import { argumentsOf } from './warehouse-data.js';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly comment: string;
}

export interface DeclaredView {
  /** Name of the view, with example arguments where it has parameters. */
  readonly source: string;
  readonly name: string;
  /** COMMENT of the view. */
  readonly comment: string;
  readonly definition: string;
  /** The columns that its definition declares. */
  readonly declared: readonly Column[];
}

export interface ViewResult extends DeclaredView {
  /** The columns and the rows that the reader gets. */
  readonly returned: readonly Omit<Column, 'comment'>[];
  readonly rows: readonly unknown[];
}

interface Queried {
  rows<T>(sql: string): Promise<T[]>;
}

interface ReaderQueried extends Queried {
  run(sql: string, as: 'reader'): Promise<string>;
}

/**
 * Every view of a database (not the materialized ones), in order of their names.
 * @param given values of parameters instead of the examples
 */
export async function declaredViews(
  database: Queried,
  given: Readonly<Record<string, string>> = {},
): Promise<DeclaredView[]> {
  const views = await database.rows<{ name: string; comment: string; definition: string }>(
    `SELECT name, comment, create_table_query AS definition FROM system.tables
     WHERE database = currentDatabase() AND engine = 'View' ORDER BY name`,
  );
  return views.map((view) => ({
    ...view,
    source: `${view.name}${argumentsOf(view.definition, given)}`,
    declared: declaredColumns(view.definition),
  }));
}

/** Views that are queried at the same time. */
const CONCURRENT = 4;

/** What `ask` returns for each view, in their order. */
export async function ofEach<T>(views: readonly DeclaredView[], ask: (view: DeclaredView) => Promise<T>): Promise<T[]> {
  const queue = new PQueue({ concurrency: CONCURRENT });
  return await queue.addAll(views.map((view) => () => ask(view)));
}

/** Every view, with what a query of it returns to the reader. */
export async function viewResults(database: ReaderQueried): Promise<ViewResult[]> {
  return await ofEach(await declaredViews(database), (view) => resultOf(view, database));
}

async function resultOf(view: DeclaredView, database: ReaderQueried): Promise<ViewResult> {
  const format = 'FORMAT JSONCompactEachRowWithNamesAndTypes';
  const text = await database.run(`SELECT * FROM ${view.source} ${format}`, 'reader');
  const [names = [], types = [], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string[]);
  return { ...view, rows, returned: names.map((name, i) => ({ name, type: withoutQuotes(types[i] ?? '') })) };
}

/** `system.columns` does not have the columns of parameterized views: the definition has. */
function declaredColumns(definition: string): Column[] {
  const [head = ''] = definition.split(/\) (?:COMMENT '(?:[^'\\]|\\.|'')*' )?AS (?:SELECT|WITH)\b/);
  return [...head.matchAll(/`(\w+)` ((?:[^'`]|'UTC'|`\w+`)+?)(?: COMMENT '((?:[^'\\]|\\.|'')*)')?(?=, `|$)/g)].map(
    ([, name = '', type = '', comment = '']) => ({
      name,
      type: withoutQuotes(type),
      comment: comment.replace(/\\(.)|'(')/g, '$1$2'),
    }),
  );
}

/** Names within a tuple are quoted where they are keywords. */
const withoutQuotes = (type: string): string => type.replaceAll('`', '');
