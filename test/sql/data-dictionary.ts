import { answerColumns } from '../../transforms/tables/account-row.js';
import { LISTING_COLUMNS } from '../../transforms/tables/listing.js';
import type { TestDatabase } from '../support/database.js';
import { type Column, declaredViews } from './declared-views.js';

interface Relation {
  readonly name: string;
  /** COMMENT of the table or view. */
  readonly comment: string;
  readonly columns: readonly Column[];
  /** Parameters of a view, as in its definition. */
  readonly parameters: readonly string[];
  /** Tables and views that a view reads. */
  readonly reads: readonly string[];
  /** Tables of whose rows materialized views fill it. */
  readonly filledFrom: readonly string[];
}

/** docs/data-dictionary.md: every table, view and column of a database, from their COMMENTs. */
export async function dataDictionary(database: TestDatabase): Promise<string> {
  const [views, tables] = [await viewsOf(database), await tablesOf(database)];
  const parts = partsOf([...tables, ...views]);
  const names = (relations: readonly Relation[]) => relations.map(({ name }) => anchored(name)).join(', ');
  const sections = (relations: readonly Relation[]) => relations.map((one) => section(one, parts)).join('\n');
  return `# Data dictionary

Every view, table and column, from the COMMENTs of the live database (\`DESCRIBE TABLE price_ticks\` shows them too). This
page is made by \`npx vitest run test/sql/data-dictionary.test.ts --update\`. [sql.md](sql.md) has example queries,
[glossary.md](glossary.md) the terms. “Part 6.1” is a section of [the exchange's interface](interface.md).

The last column is the part of the interface from which a table has a value as received. It is empty where the collector or the
transform adds the value. A view, or a table that a materialized view fills, has it for columns with the name and the meaning of a
column that it reads.

The columns \`_log\`, \`_partition\`, \`_offset\` and \`_index\` of tables are left out: they are the position of the row's record
on the bus, and the same in \`raw_records\`. Times are in UTC, with microseconds.

Views: ${names(views)}

Tables: ${names(tables)}

## Views

${sections(views)}
## Tables

${sections(tables)}`;
}

async function viewsOf(database: TestDatabase): Promise<Relation[]> {
  const relations = new Set(
    (await database.rows<{ name: string }>('SELECT name FROM system.tables WHERE database = currentDatabase()')).map(
      ({ name }) => name,
    ),
  );
  return (await declaredViews(database)).map(({ name, comment, declared, definition }) => {
    const read = [...definition.matchAll(new RegExp(`\\b${database.name}\\.(\\w+)`, 'g'))].map(
      ([, other = '']) => other,
    );
    const parameters = [...definition.matchAll(/\{(\w+):(\w+)\}/g)].map(
      ([, parameter, type]) => `${parameter} ${type}`,
    );
    return {
      name,
      comment,
      columns: declared,
      parameters: [...new Set(parameters)],
      reads: [...new Set(read)].filter((other) => other !== name && relations.has(other)).toSorted(),
      filledFrom: [],
    };
  });
}

async function tablesOf(database: TestDatabase): Promise<Relation[]> {
  const tables = await database.rows<{ name: string; comment: string }>(
    `SELECT name, comment FROM system.tables
     WHERE database = currentDatabase() AND (engine LIKE '%MergeTree' OR engine = 'Null') AND name != 'applied_sql' ORDER BY name`,
  );
  const columns = await database.rows<Column & { table: string }>(
    `SELECT table, name, type, comment FROM system.columns
     WHERE database = currentDatabase() AND name NOT IN ('_log', '_partition', '_offset', '_index') ORDER BY table, position`,
  );
  const fills = await database.rows<{ target: string; source: string }>(
    `SELECT extract(create_table_query, ' TO \\\\w+\\\\.(\\\\w+)') AS target, arrayJoin(extractAll(as_select, '\\\\b${database.name}\\\\.(\\\\w+)')) AS source
     FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'`,
  );
  return tables.map(({ name, comment }) => ({
    name,
    comment,
    columns: columns.filter(({ table }) => table === name),
    parameters: [],
    reads: [],
    filledFrom: fills.filter(({ target }) => target === name).map(({ source }) => source),
  }));
}

/** The parts that the COMMENT of a table names at its end, like \`part 6.1\` or \`parts 4.5 and 6.2\`. */
const PARTS = /\((parts? [\d.]+(?: and [\d.]+)?)\)$/;

/** Columns that the collector or the transform adds to what the exchange sent. */
const ADDED: ReadonlySet<string> = new Set([
  ...[...answerColumns(), ...LISTING_COLUMNS].map(({ name }) => name),
  ...['connection_id', 'pass_began_at', 'requested_status', 'repeated', 'is_resolution', 'executed_day'],
  // From the request.
  ...['chance_history_points.source', 'chance_history_points.period', 'tpsl_order_observations.source'],
  ...['tpsl_order_observations.asset', 'position_stats_observations.user_id'],
]);

/** The part of the interface that each column comes from, by relation and column; those that come from none are absent. */
type Parts = ReadonlyMap<string, string>;

/**
 * A column of a table with observations is of the part that the table's COMMENT names, unless it was added. A column of a view, or
 * of a table that materialized views fill, is the same as one of what it reads that has its name and COMMENT.
 */
function partsOf(relations: readonly Relation[]): Parts {
  const parts = new Map<string, string>();
  const byName = new Map(relations.map((one) => [one.name, one]));
  const done = new Set<string>();
  for (const one of relations) visit(one);
  return parts;

  function visit({ name, comment, columns, reads, filledFrom }: Relation): void {
    if (done.has(name)) return;
    done.add(name);
    const sources = [...reads, ...filledFrom].flatMap((source) => byName.get(source) ?? []);
    for (const source of sources) visit(source);
    const [, part] = PARTS.exec(comment) ?? [];
    for (const column of columns) {
      const key = `${name}.${column.name}`;
      if (part !== undefined) {
        if (!ADDED.has(column.name) && !ADDED.has(key)) parts.set(key, part);
        continue;
      }
      const origins = sources
        .filter(({ columns: others }) =>
          others.some((its) => its.name === column.name && its.comment === column.comment),
        )
        .flatMap((source) => parts.get(`${source.name}.${column.name}`)?.split(', ') ?? []);
      if (origins.length > 0) parts.set(key, [...new Set(origins)].toSorted().join(', '));
    }
  }
}

/** Of the columns that are said to be added, those that no table has. */
export async function addedInVain(database: TestDatabase): Promise<string[]> {
  const ofParts = (await tablesOf(database)).filter(({ comment }) => PARTS.test(comment));
  const names = new Set(
    ofParts.flatMap(({ name, columns }) => columns.flatMap((one) => [one.name, `${name}.${one.name}`])),
  );
  return [...ADDED].filter((one) => !names.has(one));
}

/** Units as comments name them, the longer ones first. */
const UNITS: readonly (readonly [phrase: RegExp, unit: string])[] = [
  [/USDC per share|of a share, USDC/, 'USDC per share'],
  [/number of changes/, 'changes'],
  [/USD for one coin/, 'USD'],
  [/USDC or shares/, 'USDC or shares'],
  [/\bas a fraction\b/, 'fraction'],
  [/\bpercent\b/, 'percent'],
  [/\bnats\b/, 'nats'],
  [/\blogit\b/, 'logit'],
  [/\ba ratio\b/, 'ratio'],
  [/USDC/, 'USDC'],
  [/-1 to 1\b/, '-1 to 1'],
  [/\b0 to 1\b/, '0 to 1'],
  [/YES terms/, '0 to 1'],
  [/\bshares\b/i, 'shares'],
  [/\bseconds\b/i, 's'],
];

/** The unit of a number, from its comment; empty for counts, and for what is no number. */
export function unitOf({ name, type, comment }: Column): string {
  if (!/Float64|Decimal/.test(type)) return /_bytes$/.test(name) ? 'bytes' : '';
  if (/(^|_)seconds$/.test(name)) return 's';
  return UNITS.find(([phrase]) => phrase.test(comment))?.[1] ?? '';
}

function section({ name, comment, columns, parameters, reads }: Relation, parts: Parts): string {
  const rows = columns.map(
    (column) =>
      `| \`${column.name}\` | \`${column.type.replaceAll('|', '\\|')}\` | ${unitOf(column)} | ${inTable(column.comment)} | ${withParts(parts.get(`${name}.${column.name}`) ?? '')} |\n`,
  );
  const lines = [
    withParts(comment),
    ...(parameters.length === 0 ? [] : [`Parameters: ${parameters.map((text) => `\`${text}\``).join(', ')}.`]),
    ...(reads.length === 0 ? [] : [`Reads ${reads.map(anchored).join(', ')}.`]),
  ];
  return `<a id="${name}"></a>

### ${name}

${lines.join('\n\n')}

| column | type | unit | meaning | part of the interface |
| --- | --- | --- | --- | --- |
${rows.join('')}`;
}

const anchored = (name: string) => `[\`${name}\`](#${name})`;
const inTable = (text: string) => withParts(text.replaceAll('|', '\\|').replaceAll('<', '&lt;'));
/** References to parts of the interface as links. */
const withParts = (text: string) =>
  text.replaceAll(/\bparts? [\d.]+(?: and [\d.]+)?/g, (whole) =>
    whole.replaceAll(/\d(?:\.\d)?/g, (part) => `[${part}](interface.md#part-${part})`),
  );
