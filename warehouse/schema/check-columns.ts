import { UsageError } from '../../core/index.js';
import type { ShardConnection } from '../cluster/shard-connection.js';
import type { TableDefinition } from '../table.js';

interface LiveTable {
  readonly name: string;
  readonly engine: string;
  readonly engine_full: string;
  readonly sorting_key: string;
  readonly views: readonly string[];
}

interface LiveColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly default_kind: string;
}

/**
 * Compares the table definitions of the code with the database, so that a difference is found at start and not by a failing
 * batch: columns and types, engine, sorting key of replacing tables, deduplication window, materialized views.
 * @throws UsageError that lists every difference
 */
export async function checkColumns(
  connection: ShardConnection,
  definitions: readonly TableDefinition[],
): Promise<void> {
  const params = { database: connection.database, names: definitions.map(({ name }) => name) };
  const tables = await connection.query<LiveTable>(
    `SELECT name, engine, engine_full, sorting_key,
       arrayFilter(v -> v IN (SELECT name FROM system.tables WHERE database = {database:String} AND engine = 'MaterializedView'),
         dependencies_table) AS views
     FROM system.tables WHERE database = {database:String} AND name IN {names:Array(String)}`,
    params,
  );
  const columns = await connection.query<LiveColumn>(
    `SELECT table, name, type, default_kind FROM system.columns
     WHERE database = {database:String} AND table IN {names:Array(String)}`,
    params,
  );
  const differences = definitions.flatMap((definition) => {
    const live = tables.find((table) => table.name === definition.name);
    if (!live) return [`table ${definition.name} does not exist`];
    return [
      ...compareColumns(
        definition,
        columns.filter((column) => column.table === definition.name),
      ),
      ...compareTable(definition, live),
    ];
  });
  if (differences.length === 0) return;
  throw new UsageError(
    `database ${connection.database} at ${connection.url} does not match this version of Chancery: ${differences.join('; ')}; run \`chancery migrate\``,
  );
}

function compareColumns(definition: TableDefinition, live: readonly LiveColumn[]): string[] {
  const at = (name: string) => `column ${definition.name}.${name}`;
  const differences: string[] = [];
  for (const { name, type } of definition.columns) {
    const column = live.find((c) => c.name === name);
    if (!column) differences.push(`${at(name)} does not exist`);
    else if (column.type !== type) differences.push(`${at(name)} is ${column.type}, not ${type}`);
  }
  for (const column of live) {
    if (column.default_kind === '' && !definition.columns.some((c) => c.name === column.name)) {
      differences.push(`${at(column.name)} has no default and is not written`);
    }
  }
  return differences;
}

function compareTable(definition: TableDefinition, live: LiveTable): string[] {
  const differences: string[] = [];
  const replacing = live.engine.includes('Replacing');
  if (!live.engine.endsWith('MergeTree') || replacing !== (definition.kind === 'replacing')) {
    differences.push(
      `table ${definition.name} has engine ${live.engine}, which does not match its kind ${definition.kind}`,
    );
  }
  if (definition.kind === 'replacing' && live.sorting_key !== definition.sortedBy.join(', ')) {
    differences.push(
      `table ${definition.name} is sorted by (${live.sorting_key}), not by (${definition.sortedBy.join(', ')})`,
    );
  }
  if (
    !/\breplicated_deduplication_window = \d{4,}|non_replicated_deduplication_window = \d{4,}/.test(live.engine_full)
  ) {
    differences.push(`table ${definition.name} was created without {log_settings}`);
  }
  if (live.views.length > 0 && !definition.feedsMaterializedViews) {
    differences.push(
      `table ${definition.name} feeds the materialized view ${live.views.join(', ')}, which the code does not know`,
    );
  }
  return differences;
}
