import { UsageError } from '../../core/index.js';
import type { ShardConnection, StatementSettings } from '../cluster/shard-connection.js';
import { columnList, quoteName, quoteText, structureOf } from '../connection.js';
import { incompleteResponse } from '../errors.js';
import { SUMMARY_FOLLOWS, type TableBlock, type TableDefinition, TOPIC_COLUMN } from '../table.js';
import type { BatchRange, BlockStore, InsertRequest } from './block-store.js';

/** More rows than a request can have. */
const ONE_BLOCK = 1_000_000_000;

/**
 * The settings that exactly-once depends on, sent with every insert rather than taken from the server's defaults:
 * synchronous; deduplicated by token, materialized views included; one block, so that a table partition gets all of its
 * rows or none.
 */
const INSERT_SETTINGS: StatementSettings = {
  async_insert: 0,
  deduplicate_insert: 'enable',
  deduplicate_insert_select: 'force_enable',
  deduplicate_blocks_in_dependent_materialized_views: 1,
  input_format_parallel_parsing: 0,
  wait_end_of_query: 1,
  max_insert_block_size: ONE_BLOCK,
  max_insert_block_size_bytes: 0,
  min_insert_block_size_rows: ONE_BLOCK,
  min_insert_block_size_bytes: 0,
  max_insert_threads: 1,
  insert_null_as_default: 0,
  // Merges build the costly ones.
  exclude_materialize_skip_indexes_on_insert: 'events, ids, prices',
  // The structure of `input(…)` has the table's column types, among them LowCardinality of a number.
  allow_suspicious_low_cardinality_types: 1,
};

/** Settings of an insert into a view's target table, without deduplication: it is repeated deliberately. */
const FEED_SETTINGS: StatementSettings = {
  ...INSERT_SETTINGS,
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
};

interface LiveView {
  readonly name: string;
  readonly definition: string;
  readonly select: string;
  readonly columns: readonly string[];
}

/** The `BlockStore` of one shard. */
export class ClickHouseStore implements BlockStore {
  constructor(private readonly connection: ShardConnection) {}

  async insert(block: TableBlock, request: InsertRequest): Promise<void> {
    const { token, queryId, onlyMissing, beforeSend, signal } = request;
    const settings = { ...INSERT_SETTINGS, insert_deduplication_token: token };
    if (onlyMissing) {
      const select = this.#selectMissing(block.table, onlyMissing);
      return this.connection.insert(block, {
        queryId,
        settings,
        select,
        upToDate: [block.table.name],
        beforeSend,
        signal,
      });
    }
    const { summary } = block;
    if (!summary) return this.connection.insert(block, { queryId, settings, beforeSend, signal });
    // Repeated or without the rows, a summary changes no answer. If only one of the two succeeds, the views are fed from the table.
    await this.connection.insert(summary, {
      queryId: `${queryId}/${summary.table.name}`,
      settings,
      beforeSend,
      signal,
    });
    await this.connection.insert(block, {
      queryId,
      settings: { ...settings, log_comment: SUMMARY_FOLLOWS },
      beforeSend,
      signal,
    });
  }

  async countPositions(table: TableDefinition, range: BatchRange, signal: AbortSignal) {
    const [row] = await this.connection.query<{ rows: number; positions: number }>(
      `SELECT count() AS rows, uniqExact(_offset, _index) AS positions FROM ${this.#name(table)} WHERE ${within(table, range)}`,
      {},
      signal,
      { upToDate: [table.name] },
    );
    if (!row) throw incompleteResponse(this.connection.url);
    return row;
  }

  async countMissing(block: TableBlock, range: BatchRange, signal: AbortSignal): Promise<number> {
    const { missing } = await this.connection.queryWithBlock<{ missing: number }>(
      `SELECT count() AS missing FROM block WHERE ${this.#notStored(block.table, range)}`,
      block,
      signal,
      { upToDate: [block.table.name] },
    );
    return missing;
  }

  async countOutdated(block: TableBlock, signal: AbortSignal): Promise<number> {
    const { table } = block;
    if (table.kind !== 'replacing') throw new UsageError(`table ${table.name} has no versions`);
    const id = table.id.map(quoteName).join(', ');
    const version = quoteName(table.version);
    const { outdated } = await this.connection.queryWithBlock<{ outdated: number }>(
      `SELECT count() AS outdated FROM (
         SELECT ${id} FROM (
           SELECT ${id}, ${version}, 1 AS ours FROM block
           UNION ALL
           SELECT ${id}, ${version}, 0 AS ours FROM ${this.#name(table)} WHERE (${id}) IN (SELECT ${id} FROM block)
         )
         GROUP BY ${id}
         HAVING countIf(ours = 0) = 0 OR maxIf(${version}, ours = 0) < maxIf(${version}, ours = 1)
       )`,
      block,
      signal,
      { upToDate: [table.name] },
    );
    return outdated;
  }

  async feedViews(table: TableDefinition, range: BatchRange, signal: AbortSignal): Promise<void> {
    const { database } = this.connection;
    const views = await this.connection.query<LiveView>(
      `SELECT v.name AS name, v.create_table_query AS definition, v.as_select AS select, groupArray(c.name) AS columns
       FROM system.tables AS v JOIN system.columns AS c ON c.database = v.database AND c.table = v.name
       WHERE v.engine = 'MaterializedView' AND (v.database, v.name) IN (
         SELECT arrayJoin(arrayZip(dependencies_database, dependencies_table)) FROM system.tables
         WHERE database = {database:String} AND name = {table:String})
       GROUP BY ALL ORDER BY name`,
      { database, table: table.name },
      signal,
    );
    const filters = `{${quoteText(`${database}.${table.name}`)}: ${quoteText(within(table, range))}}`;
    for (const view of views) {
      const names = view.columns.map(quoteName).join(', ');
      await this.connection.command(
        `INSERT INTO ${targetOf(view)} (${names}) SELECT ${names} FROM (${view.select})
         SETTINGS additional_table_filters = ${filters}`,
        { settings: FEED_SETTINGS, signal, upToDate: [table.name] },
      );
    }
  }

  async countRunning(queryIds: readonly string[], signal: AbortSignal): Promise<number> {
    const rows = await this.connection.queryEvery<{ running: number }>(
      'SELECT count() AS running FROM system.processes WHERE query_id IN {ids:Array(String)}',
      { ids: queryIds },
      signal,
    );
    if (rows.length === 0) throw incompleteResponse(this.connection.url);
    return rows.reduce((sum, row) => sum + row.running, 0);
  }

  async kill(queryIds: readonly string[], signal: AbortSignal): Promise<void> {
    const ids = queryIds.map(quoteText).join(', ');
    await this.connection.commandEvery(`KILL QUERY WHERE query_id IN (${ids}) ASYNC`, signal);
  }

  #name(table: TableDefinition): string {
    return `${quoteName(this.connection.database)}.${quoteName(table.name)}`;
  }

  /** Selects the rows of the request's block whose positions are not in the table. */
  #selectMissing(table: TableDefinition, range: BatchRange): string {
    return `SELECT ${columnList(table)} FROM input(${quoteText(structureOf(table))}) WHERE ${this.#notStored(table, range)}`;
  }

  #notStored(table: TableDefinition, range: BatchRange): string {
    return `(_offset, _index) NOT IN (
      SELECT _offset, _index FROM ${this.#name(table)} WHERE ${within(table, range)})`;
  }
}

/** The target table in a materialized view's definition. */
function targetOf({ name, definition }: LiveView): string {
  const target = /^CREATE MATERIALIZED VIEW .+? TO (\S+) /.exec(definition)?.[1];
  if (target !== undefined) return target;
  throw new UsageError(`the materialized view ${name} has no TO clause; create it again with TO`);
}

function within(table: TableDefinition, range: BatchRange): string {
  const topic = table.columns.some((c) => c.name === TOPIC_COLUMN.name)
    ? `_topic = ${quoteText(range.topic)} AND `
    : '';
  return (
    `${topic}_log = ${quoteText(range.log)} AND _partition = ${range.partition} ` +
    `AND _offset BETWEEN ${range.start} AND ${range.end}`
  );
}
