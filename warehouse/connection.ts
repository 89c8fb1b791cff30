import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { describeError } from '../core/index.js';
import type { CommandOptions, ShardConnection } from './cluster/shard-connection.js';
import type { ClickHouseEndpoint } from './embedded/endpoint.js';
import { ConnectionError, StatementError, serverMessage } from './errors.js';
import { HttpPost, type PostOptions } from './http-post.js';
import type { TableBlock, TableDefinition } from './table.js';

/** Values for `{name:Type}` places of a statement. */
export type QueryParams = Readonly<Record<string, unknown>>;
export type StatementSettings = Readonly<Record<string, string | number>>;

export interface ConnectionOptions {
  readonly endpoint: ClickHouseEndpoint;
  readonly database: string;
  /** Shown in ClickHouse's logs and `system.processes`. */
  readonly application: string;
  /** Longest silence of the server before a statement counts as lost, milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
}

/** An insert of one block. */
export interface InsertOptions {
  readonly queryId: string;
  readonly settings: StatementSettings;
  /** Statement after the column list; default `FORMAT` and the block's format. `input(…)` stands for the block's rows. */
  readonly select?: string;
  /** Called right before the first byte is sent; a throw stops the request unsent. */
  readonly beforeSend?: () => void;
  readonly signal?: AbortSignal | undefined;
  /** As `upToDate` of reads: what the statement itself reads. */
  readonly upToDate?: readonly string[];
}

/**
 * A ClickHouse server over HTTP, embedded or not. Statements go through @clickhouse/client; blocks of rows through a
 * lean keep-alive POST. 64-bit integers come back as numbers: exact below 2^53, which offsets and counts are.
 * Every method throws ConnectionError when the server does not answer and StatementError when it refuses.
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
      keep_alive: { enabled: true, idle_socket_ttl: 1500 },
      log: { level: ClickHouseLogLevel.OFF },
      clickhouse_settings: { wait_end_of_query: 1, output_format_json_quote_64bit_integers: 0 },
    });
    this.#post = new HttpPost({ endpoint, application, timeoutMs });
  }

  /** Where it is, for messages. */
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
      return answer.json<Row>();
    });
  }

  /** As `query`: there is one server. */
  queryEvery<Row>(sql: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Row[]> {
    return this.query(sql, params, signal);
  }

  /** As `command`: there is one server. */
  commandEvery(sql: string, signal?: AbortSignal): Promise<void> {
    return this.command(sql, { signal });
  }

  /** Runs a statement that answers no rows. */
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

  /** Sends a block of rows as one request; resolves only when the server said clearly that they are in. */
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

  /** One row of a SELECT that may read the block's rows as a table named `block`. */
  async queryWithBlock<Row>(sql: string, block: TableBlock, signal?: AbortSignal): Promise<Row> {
    const boundary = randomUUID();
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="block"; filename="block"\r\n\r\n`;
    const text = await this.#send({
      query: `${sql} FORMAT JSONEachRow`,
      settings: {
        block_format: block.format ?? 'RowBinary',
        block_structure: structureOf(block.table),
        output_format_json_quote_64bit_integers: 0,
      },
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: Buffer.concat([Buffer.from(head), block.body, Buffer.from(`\r\n--${boundary}--\r\n`)]),
      signal,
    });
    return JSON.parse(text.slice(0, text.indexOf('\n') + 1 || undefined)) as Row;
  }

  /** True when the server answers and lets us in. */
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
        throw new ConnectionError(`something other than ClickHouse answered at ${this.url}; check what is in between`);
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

/** Many statements may be under way with one signal; each takes its listener away when it is done. */
function expectMany(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal);
}

function toWarehouseError(error: unknown, url: string, sql: string): Error {
  if (error instanceof ClickHouseError) {
    const start = sql.trim().replace(/\s+/g, ' ').slice(0, 120);
    return new StatementError(`ClickHouse: ${serverMessage(error.message)} (in: ${start})`, Number(error.code), {
      cause: error,
    });
  }
  return new ConnectionError(
    `ClickHouse at ${url} does not answer (${describeError(error)}); check that it runs and that the address is right`,
    { cause: error },
  );
}

export const quoteName = (name: string): string => `\`${name.replace(/[`\\]/g, '\\$&')}\``;
export const quoteText = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
export const columnList = (table: TableDefinition): string => table.columns.map((c) => quoteName(c.name)).join(', ');
/** `name Type, …`: how `input(…)` and external tables are told what a block holds. */
export const structureOf = (table: TableDefinition): string =>
  table.columns.map((c) => `${quoteName(c.name)} ${c.type}`).join(', ');
