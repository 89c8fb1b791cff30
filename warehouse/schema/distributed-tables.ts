import { UsageError } from '../../core/index.js';
import { type Connection, quoteName, quoteText } from '../connection.js';
import { readColumns, type ShardTable, type TableColumn } from './shard-tables.js';

/** The database of the distributed tables, and the cluster that they read. */
interface DistributedTarget {
  /** The database that users query. */
  readonly database: string;
  /** Name of the cluster in `remote_servers`. */
  readonly cluster: string;
}

/** The migrations determine the column types. */
const DISTRIBUTED_TABLE_SETTINGS = { allow_suspicious_low_cardinality_types: 1 };

interface LiveTable {
  readonly name: string;
  readonly engine: string;
  readonly definition: string;
}

/**
 * Creates a table of the same name for each table of the node's shard: a Distributed one over all shards, or, if every
 * shard has all rows, a view of this node's table. They store nothing, so one that does not match is replaced. Returns the
 * names of those that were created, replaced or dropped.
 */
export async function createDistributedTables(
  node: Connection,
  tables: readonly ShardTable[],
  target: DistributedTarget,
): Promise<string[]> {
  const { database } = target;
  const live = await node.query<LiveTable>(
    `SELECT name, engine, if(engine = 'View', as_select, engine_full) AS definition
     FROM system.tables WHERE database = {database:String}`,
    { database },
  );
  const columns = await readColumns(node, database);
  const changed: string[] = [];
  for (const table of tables) {
    const existing = live.find((other) => other.name === table.name);
    if (existing) assertDistributed(node, database, existing);
    const engine = table.onEveryShard ? 'View' : 'Distributed';
    const wanted = definitionOf(node, table, target);
    const matches =
      existing?.engine === engine && existing.definition === wanted && sameColumns(table, columns.get(table.name));
    if (matches) continue;
    if (existing && existing.engine !== engine) await drop(node, database, table.name);
    await node.command(createStatement(node, table, target), { settings: DISTRIBUTED_TABLE_SETTINGS });
    changed.push(table.name);
  }
  for (const { name, engine } of live) {
    if (engine !== 'Distributed' || tables.some((table) => table.name === name)) continue;
    await drop(node, database, name);
    changed.push(name);
  }
  return changed;
}

const drop = (node: Connection, database: string, name: string): Promise<void> =>
  node.command(`DROP TABLE IF EXISTS ${database}.${quoteName(name)} SYNC`);

function assertDistributed(node: Connection, database: string, { name, engine }: LiveTable): void {
  if (engine === 'View' || engine === 'Distributed') return;
  throw new UsageError(
    `database ${database} at ${node.url} has the table ${name} of a single server; choose another database for the cluster with ` +
      '--database, or move the existing one away',
  );
}

function createStatement(node: Connection, table: ShardTable, target: DistributedTarget): string {
  const name = `${target.database}.${quoteName(table.name)}`;
  const comment = `COMMENT ${quoteText(table.comment)}`;
  const definition = definitionOf(node, table, target);
  const lines = table.columns.map((column) => columnLine(column, !table.onEveryShard)).join(',\n');
  return table.onEveryShard
    ? `CREATE OR REPLACE VIEW ${name} (\n${lines}\n) AS ${definition} ${comment}`
    : `CREATE OR REPLACE TABLE ${name} (\n${lines}\n) ENGINE = ${definition} ${comment}`;
}

/** As `system.tables` shows it: SELECT of a view, engine of a table. */
function definitionOf(node: Connection, table: ShardTable, { cluster }: DistributedTarget): string {
  if (!table.onEveryShard) {
    return `Distributed(${[cluster, node.database, table.name].map(quoteText).join(', ')})`;
  }
  const names = table.columns.filter((column) => column.kind !== 'ALIAS').map((column) => bareOrQuoted(column.name));
  return `SELECT ${names.join(', ')} FROM ${node.database}.${bareOrQuoted(table.name)}`;
}

/** ClickHouse shows names without quotes where it can. */
const bareOrQuoted = (name: string): string => (/^[a-zA-Z_]\w*$/.test(name) ? name : quoteName(name));

function columnLine({ name, type, kind, expression, comment }: TableColumn, defaults: boolean): string {
  const value = defaults && kind !== '' ? ` ${kind} ${expression}` : '';
  return `${quoteName(name)} ${type}${value} COMMENT ${quoteText(comment)}`;
}

function sameColumns({ columns, onEveryShard }: ShardTable, existing: readonly TableColumn[] = []): boolean {
  const text = (list: readonly TableColumn[]) => list.map((column) => columnLine(column, !onEveryShard)).join();
  return text(columns) === text(existing);
}
