import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { countGarbage, describeError, retry, UnavailableError } from '../core/index.js';
import { type QueryStream, type RunningQuery, streamUntilEnded, untilEnded } from './cancelled-query.js';
import { csvLine } from './csv.js';
import type { CompactResult } from './frames.js';
import type { BoundQuery } from './panel-query.js';

/** A connection as the reader; `close` is called when it failed, and at the end. */
export interface ReaderConnection {
  readonly client: ClickHouseClient;
  /** Why an embedded server is not restricted to its own files. */
  readonly unconfined?: string | null;
  close(): Promise<void>;
}

/** Connects as the reader; undefined while ClickHouse is not running. */
export type ConnectReader = () => Promise<ReaderConnection | undefined>;

export interface QueryResult extends CompactResult {
  /** Time zone of the server. */
  readonly timezone: string;
}

/** The query was rejected by ClickHouse; the message is ClickHouse's own. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

/** The result has more rows, or is larger, than that of a panel may be. */
export class TooManyRowsError extends QueryError {}

/** Maximum size of the result of a panel, as text. */
const MAX_RESULT_BYTES = 4_000_000;

/** An error within the result is then an error with its code; without it, the server closes the connection. */
const COMPLETE_RESULT = { wait_end_of_query: 1 } as const;
/** Grafana's settings, and: the server stops a query when its client has left. */
const QUERY_SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  cancel_http_readonly_queries_on_client_close: 1,
  max_result_rows: '50000',
} as const;
const EXPORT_SETTINGS = { cancel_http_readonly_queries_on_client_close: 1, date_time_output_format: 'iso' } as const;
/** JSON numbers that JavaScript would round are texts. */
const EXACT_NUMBERS = { output_format_json_quote_64bit_integers: 1, output_format_json_quote_decimals: 1 } as const;
/** Formats in which the result of a panel's query can be downloaded. */
export type ExportFormat = 'csv' | 'parquet';

const withoutEnd = (sql: string): string => sql.trim().replace(/;$/, '');

/** @throws TooManyRowsError for a text that would take too much memory */
async function resultText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_RESULT_BYTES) {
      const limit = `${MAX_RESULT_BYTES / 1e6} MB`;
      throw new TooManyRowsError(
        `the result is larger than ${limit}, which is what a panel may have; download it instead`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Lists, tuples and maps of numbers only: quoted numbers in them (`EXACT_NUMBERS`) are no texts. */
const NUMBERS_ONLY = /^(?:Array|Tuple|Map)\((?!.*(?:String|Date|Time|UUID|IPv|Enum|JSON|Dynamic|Variant))/;

/** @param rows the names of the columns, their types, and the rows */
async function* csvOf(rows: AsyncIterable<readonly { json<T>(): T }[]>): AsyncGenerator<string> {
  let row = 0;
  let ofNumbers: readonly boolean[] = [];
  for await (const chunk of rows) {
    let lines = '';
    for (const one of chunk) {
      const cells = one.json<unknown[]>();
      if (row++ === 1) ofNumbers = cells.map((type) => NUMBERS_ONLY.test(String(type)));
      else lines += csvLine(cells, ofNumbers);
    }
    yield lines;
  }
}

/** ClickHouse's code when a user may not change settings. */
const READONLY = '164';
const TOO_MANY_ROWS_OR_BYTES = '396';
/** Its code when a query was killed; also instead of TIMEOUT_EXCEEDED, when the time was up in a subquery. */
const QUERY_WAS_CANCELLED = '394';

/** A query whose connection broke is asked again: the server closes idle connections, also one on which it is just sent. */
const RETRIES = { attempts: 3, baseMs: 50, capMs: 500 };

const ignore = (): void => undefined;

/** A connection, and how many queries use it. */
interface Used {
  readonly connection: ReaderConnection;
  queries: number;
  /** Another one has replaced it; it is closed when its last query has ended. */
  replaced: boolean;
}

/** ClickHouse as the reader, over a connection that is made again after it failed. */
export class ReaderDatabase {
  #used: Promise<Used> | undefined;
  #receiving: Promise<void> = Promise.resolve();
  #settings: (typeof QUERY_SETTINGS & { readonly max_execution_time: number }) | undefined;

  /** @param maxSeconds what a query may take, if the reader may change settings */
  constructor(
    private readonly connect: ConnectReader,
    private readonly maxSeconds: number,
  ) {
    this.#settings = { ...QUERY_SETTINGS, max_execution_time: maxSeconds };
  }

  /**
   * When the signal is aborted, the query is killed, and the promise is rejected once it has ended on the server.
   * @throws QueryError when ClickHouse rejects the query
   * @throws UnavailableError when ClickHouse does not respond
   */
  query(query: BoundQuery, signal: AbortSignal): Promise<QueryResult> {
    const isBroken = (error: unknown) => error instanceof UnavailableError && error.cause !== undefined;
    return retry(() => this.#ask(query, signal), { ...RETRIES, signal, retryable: isBroken });
  }

  async #ask(query: BoundQuery, signal: AbortSignal): Promise<QueryResult> {
    const used = await this.#connect();
    try {
      const { client } = used.connection;
      return await untilEnded(client, signal, async (running) => {
        const { stream, response_headers } = await client.exec({
          query: `${withoutEnd(query.sql)}\nFORMAT JSONCompact`,
          query_params: query.parameters,
          clickhouse_settings: { ...this.#settings, ...COMPLETE_RESULT },
          ...running,
        });
        const timezone = String(response_headers['x-clickhouse-timezone'] ?? 'UTC');
        return { ...(await this.#received(stream)), timezone };
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ClickHouseError && error.code === READONLY && this.#settings) {
        this.#settings = undefined;
        return await this.#ask(query, signal);
      }
      if (error instanceof ClickHouseError) throw this.#rejected(error);
      if (error instanceof QueryError) throw error;
      throw this.#broken(used, error);
    } finally {
      this.#release(used);
    }
  }

  /** Results are received one after the other: each takes several times its size until it is a result. */
  #received(stream: Readable): Promise<CompactResult> {
    const received = this.#receiving.then(async () => {
      const text = await resultText(stream);
      const result = JSON.parse(text) as CompactResult;
      countGarbage(text.length);
      return result;
    });
    this.#receiving = received.then(ignore, ignore);
    return received;
  }

  /** The columns of a query's result, without running it. */
  async columns({ sql, parameters }: BoundQuery, signal: AbortSignal): Promise<CompactResult['meta']> {
    const { data } = await this.query({ sql: `DESCRIBE TABLE (\n${withoutEnd(sql)}\n)`, parameters }, signal);
    return data.map(([name, type]) => ({ name: String(name), type: String(type) }));
  }

  /**
   * The complete result of a query as a file. The server sends it when the query has finished, so an error is thrown here
   * and does not cut the file short.
   * @throws as `query`; also when the result is larger than the reader may have
   */
  async export(query: BoundQuery, format: ExportFormat, signal: AbortSignal): Promise<QueryStream> {
    const used = await this.#connect();
    try {
      const { client } = used.connection;
      const file = await streamUntilEnded(client, signal, (running) => this.#fileOf(client, query, format, running));
      void file.ended.then(() => this.#release(used));
      return file;
    } catch (error) {
      this.#release(used);
      signal.throwIfAborted();
      if (error instanceof ClickHouseError)
        throw new QueryError(`${error.message}; \`chancery sql --format csv\` has other limits`, { cause: error });
      throw this.#broken(used, error);
    }
  }

  async #fileOf(client: ClickHouseClient, query: BoundQuery, format: ExportFormat, running: RunningQuery) {
    const settings = { ...(this.#settings ? EXPORT_SETTINGS : {}), ...COMPLETE_RESULT };
    const asked = { query_params: query.parameters, clickhouse_settings: settings, ...running };
    if (format === 'parquet') {
      const { stream } = await client.exec({ ...asked, query: `${withoutEnd(query.sql)}\nFORMAT Parquet` });
      return stream;
    }
    const answer = await client.query({
      ...asked,
      clickhouse_settings: { ...(this.#settings ? EXACT_NUMBERS : {}), ...settings },
      query: query.sql,
      format: 'JSONCompactEachRowWithNamesAndTypes',
    });
    return Readable.from(csvOf(answer.stream<unknown[]>()), { objectMode: false });
  }

  /** Why the server is not restricted to its own files; undefined when it is, or is not ours. */
  async unconfined(): Promise<string | undefined> {
    const used = await this.#connect();
    this.#release(used);
    return used.connection.unconfined ?? undefined;
  }

  async close(): Promise<void> {
    const open = this.#used;
    this.#used = undefined;
    await open?.then(({ connection }) => connection.close()).catch(() => undefined);
  }

  #rejected(error: ClickHouseError): QueryError {
    const Kind = error.code === TOO_MANY_ROWS_OR_BYTES ? TooManyRowsError : QueryError;
    return new Kind(this.#messageOf(error), { cause: error });
  }

  #messageOf({ code, message }: ClickHouseError): string {
    if (code !== QUERY_WAS_CANCELLED) return message;
    return `ClickHouse cancelled the query: it took longer than ${this.maxSeconds} s, or it was killed`;
  }

  async #connect(): Promise<Used> {
    this.#used ??= this.connect().then((connection) => {
      if (connection) return { connection, queries: 0, replaced: false };
      throw new UnavailableError('ClickHouse is not running; `chancery status` shows what runs');
    });
    try {
      const used = await this.#used;
      used.queries += 1;
      return used;
    } catch (error) {
      this.#used = undefined;
      throw error;
    }
  }

  /** The next query connects again: ClickHouse may have another port. Other queries on the connection may still succeed. */
  #broken(used: Used, cause: unknown): UnavailableError {
    if (!used.replaced) this.#used = undefined;
    used.replaced = true;
    return new UnavailableError(`ClickHouse does not respond: ${describeError(cause)}`, { cause });
  }

  #release(used: Used): void {
    used.queries -= 1;
    if (used.replaced && used.queries === 0) void used.connection.close().catch(() => undefined);
  }
}
