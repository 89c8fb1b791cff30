import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { describeError } from '../core/index.js';
import type { CommandOptions, InsertOptions, QueryParams, ShardConnection } from './cluster/shard-connection.js';
import type { ClickHouseEndpoint } from './embedded/endpoint.js';
import { ConnectionError, incompleteResponse, StatementError, serverMessage } from './errors.js';
import { HttpPost, type PostOptions } from './http-post.js';
import type { TableBlock, TableDefinition } from './table.js';

export interface ConnectionOptions {
  readonly endpoint: ClickHouseEndpoint;
  readonly database: string;
  /** Shown in ClickHouse's logs and `system.processes`. */
  readonly application: string;
  /** A statement fails when the server sends nothing for this long, milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
}

/**
 * A ClickHouse server over HTTP, embedded or not. Statements use @clickhouse/client; blocks of rows use a keep-alive POST
 * of undici. 64-bit integers are returned as numbers, exact below 2^53, as offsets and counts are.
 * Every method throws ConnectionError when the server does not respond and StatementError when it rejects a statement.
 */
export class Connection implements ShardConnection {
  readonly database: string;
  readonly #client: ClickHouseClient;
  readonly #post: HttpPost;

  constructor(private readonly options: ConnectionOptions) {
    const { endpoint, database, application, timeoutMs = 120_000 } = options;
    this.database = database;
    this.#client = createClient({
      url: endpoint.url,
      username: endpoint.user,
      password: endpoint.password.reveal(),
      application,
      request_timeout: timeoutMs,
      max_open_connections: 4,
      // A process that was stopped or busy for seconds must not send on a connection that the server has closed meanwhile.
      keep_alive: { enabled: true, idle_socket_ttl: 1500, eagerly_destroy_stale_sockets: true },
      log: { level: ClickHouseLogLevel.OFF },
      clickhouse_settings: { wait_end_of_query: 1, output_format_json_quote_64bit_integers: 0 },
    });
    this.#post = new HttpPost({ endpoint, application, timeoutMs });
  }

  /** Its URL, for messages. */
  get url(): string {
    return this.options.endpoint.url;
  }

  /** The rows of a SELECT. */
  async query<Row>(sql: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Row[]> {
    return this.#run(sql, signal, async () => {
      const answer = await this.#client.query({
        query: sql,
        format: 'JSONEachRow',
        query_params: { ...params },
        ...(signal ? { abort_signal: signal } : {}),
      });
      const rows = await answer.json<Row>();
      if (rows.length < resultRows(answer.response_headers)) throw incompleteResponse(this.url);
      return rows;
    });
  }

  /** Same as `query`: there is one server. */
  queryEvery<Row>(sql: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Row[]> {
    return this.query(sql, params, signal);
  }

  /** Same as `command`: there is one server. */
  commandEvery(sql: string, signal?: AbortSignal): Promise<void> {
    return this.command(sql, { signal });
  }

  /** Runs a statement without a result. */
  async command(sql: string, options: CommandOptions = {}): Promise<void> {
    const { params = {}, settings = {}, signal, queryId } = options;
    await this.#run(sql, signal, async () => {
      await this.#client.command({
        query: sql,
        query_params: { ...params },
        clickhouse_settings: { ...settings },
        ...(queryId === undefined ? {} : { query_id: queryId }),
        ...(signal ? { abort_signal: signal } : {}),
      });
    });
  }

  /** Sends a block of rows as one request; resolves only when the server confirmed that they are stored. */
  async insert(block: TableBlock, options: InsertOptions): Promise<void> {
    const { table, format = 'RowBinary', body } = block;
    const columns = columnList(table);
    const sql = `INSERT INTO ${this.#name(table)} (${columns}) ${options.select ?? ''} FORMAT ${format}`;
    await this.#send({
      query: sql,
      queryId: options.queryId,
      settings: options.settings,
      body,
      beforeSend: options.beforeSend,
      signal: options.signal,
    });
  }

  /** The single row of a SELECT that may read the block's rows as an external table named `block`. */
  async queryWithBlock<Row>(sql: string, block: TableBlock, signal?: AbortSignal): Promise<Row> {
    const boundary = randomUUID();
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="block"; filename="block"\r\n\r\n`;
    const text = await this.#send({
      query: `${sql} FORMAT JSONEachRow`,
      settings: {
        block_format: block.format ?? 'RowBinary',
        block_structure: structureOf(block.table),
        output_format_json_quote_64bit_integers: 0,
        // The structure has the table's column types, among them LowCardinality of a number.
        allow_suspicious_low_cardinality_types: 1,
      },
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: Buffer.concat([Buffer.from(head), block.body, Buffer.from(`\r\n--${boundary}--\r\n`)]),
      signal,
    });
    const end = text.indexOf('\n');
    if (end < 0) throw incompleteResponse(this.url);
    return JSON.parse(text.slice(0, end)) as Row;
  }

  /** Whether the server responds and accepts the login. */
  async answers(signal?: AbortSignal): Promise<boolean> {
    try {
      await this.query('SELECT 1', {}, signal);
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#post.close()]);
  }

  async #send(options: PostOptions): Promise<string> {
    expectMany(options.signal);
    const settings = { database: this.database, wait_end_of_query: 1, ...options.settings };
    const { status, code, queryId, text } = await this.#post.send({ ...options, settings });
    if (status === 200 && code === 0) {
      if (options.queryId !== undefined && queryId !== options.queryId) {
        throw new ConnectionError(
          `the response from ${this.url} is not from ClickHouse; check for a proxy between this process and the server`,
        );
      }
      return text;
    }
    if (code !== 0) throw new StatementError(`ClickHouse: ${serverMessage(text)}`, code);
    throw new ConnectionError(
      `ClickHouse at ${this.url} answered HTTP ${status}: ${serverMessage(text).slice(0, 200)}`,
    );
  }

  async #run<T>(sql: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    expectMany(signal);
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw toWarehouseError(error, this.url, sql);
    }
  }

  #name(table: TableDefinition): string {
    return `${quoteName(this.database)}.${quoteName(table.name)}`;
  }
}

/** Many statements may share one signal; each removes its listener when it is done. */
function expectMany(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal);
}

/** The number of rows of the result, according to the headers; 0 if these do not say. */
export function resultRows(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const summary = headers['x-clickhouse-summary'];
  if (typeof summary !== 'string') return 0;
  return Number((JSON.parse(summary) as { result_rows?: string }).result_rows ?? 0);
}

function toWarehouseError(error: unknown, url: string, sql: string): Error {
  if (error instanceof ConnectionError) return error;
  if (error instanceof ClickHouseError) {
    const start = sql.trim().replace(/\s+/g, ' ').slice(0, 120);
    return new StatementError(`ClickHouse: ${serverMessage(error.message)} (in: ${start})`, Number(error.code), {
      cause: error,
    });
  }
  return new ConnectionError(
    `ClickHouse at ${url} does not respond (${describeError(error)}); check that it runs and that the URL is correct`,
    { cause: error },
  );
}

/** The name of a table or column in SQL. */
export const quoteName = (name: string): string => `\`${name.replace(/[`\\]/g, '\\$&')}\``;
/** A text as an SQL literal. */
export const quoteText = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
export const columnList = (table: TableDefinition): string => table.columns.map((c) => quoteName(c.name)).join(', ');
/** `name Type, …`: the structure of a block, for `input(…)` and external tables. */
export const structureOf = (table: TableDefinition): string =>
  table.columns.map((c) => `${quoteName(c.name)} ${c.type}`).join(', ');
