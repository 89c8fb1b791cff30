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
}

/** docs/data-dictionary.md: every table, view and column of a database, from their COMMENTs. */
export async function dataDictionary(database: TestDatabase): Promise<string> {
  const [views, tables] = [await viewsOf(database), await tablesOf(database)];
  const names = (relations: readonly Relation[]) => relations.map(({ name }) => anchored(name)).join(', ');
  const sections = (relations: readonly Relation[]) => relations.map(section).join('\n');
  return `# Data dictionary

Every view, table and column, from the COMMENTs of the live database (\`DESCRIBE TABLE price_ticks\` shows them too). This
page is made by \`npx vitest run test/sql/data-dictionary.test.ts --update\`. [sql.md](sql.md) has example queries,
[glossary.md](glossary.md) the terms. “Part 6.1” is a section of [the exchange's interface](interface.md).

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
    };
  });
}

async function tablesOf(database: TestDatabase): Promise<Relation[]> {
  const tables = await database.rows<{ name: string; comment: string }>(
    `SELECT name, comment FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'applied_sql' ORDER BY name`,
  );
  const columns = await database.rows<Column & { table: string }>(
    `SELECT table, name, type, comment FROM system.columns
     WHERE database = currentDatabase() AND name NOT IN ('_log', '_partition', '_offset', '_index') ORDER BY table, position`,
  );
  return tables.map(({ name, comment }) => ({
    name,
    comment,
    columns: columns.filter(({ table }) => table === name),
    parameters: [],
    reads: [],
  }));
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

function section({ name, comment, columns, parameters, reads }: Relation): string {
  const rows = columns.map(
    (column) =>
      `| \`${column.name}\` | \`${column.type.replaceAll('|', '\\|')}\` | ${unitOf(column)} | ${inTable(column.comment)} |\n`,
  );
  const lines = [
    withParts(comment),
    ...(parameters.length === 0 ? [] : [`Parameters: ${parameters.map((text) => `\`${text}\``).join(', ')}.`]),
    ...(reads.length === 0 ? [] : [`Reads ${reads.map(anchored).join(', ')}.`]),
  ];
  return `<a id="${name}"></a>

### ${name}

${lines.join('\n\n')}

| column | type | unit | meaning |
| --- | --- | --- | --- |
${rows.join('')}`;
}

const anchored = (name: string) => `[\`${name}\`](#${name})`;
const inTable = (text: string) => withParts(text.replaceAll('|', '\\|').replaceAll('<', '&lt;'));
/** References to parts of the interface as links. */
const withParts = (text: string) =>
  text.replaceAll(/\bparts? [\d.]+(?: and [\d.]+)?/g, (whole) =>
    whole.replaceAll(/\d(?:\.\d)?/g, (part) => `[${part}](interface.md#part-${part})`),
  );
