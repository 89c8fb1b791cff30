import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { ChanceryError, UnavailableError } from '../core/index.js';
import { type ClickHouseEndpoint, resultRows } from '../warehouse/index.js';

/** A client of an embedded server of a dataset. */
export function openClient({ url, user, password }: ClickHouseEndpoint, database: string): ClickHouseClient {
  return createClient({
    ...{ url, username: user, password: password.reveal(), database, application: 'chancery dataset' },
    request_timeout: 3_600_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
}

/** ClickHouse rejected or cancelled a query of an export. */
export class ExportQueryError extends ChanceryError {
  readonly retryable = false;
}

/** A complete result of a query. */
export interface Result {
  readonly body: AsyncIterable<Buffer>;
  readonly rows: number;
}

/** The ClickHouse that is exported. Results are complete or an error: the server sends them when the query is finished. */
export class ExportSource {
  constructor(private readonly client: ClickHouseClient) {}

  async rows<Row>(query: string, signal: AbortSignal): Promise<Row[]> {
    const { body } = await this.result(`${query} FORMAT JSONEachRow`, {}, signal);
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString('utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
  }

  /**
   * @param query with its FORMAT clause
   * @param params values of `{name:Type}` in the query, sent beside it
   */
  async result(query: string, params: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Result> {
    try {
      const settings = { wait_end_of_query: 1, output_format_json_quote_64bit_integers: 0 } as const;
      const answer = await this.client.exec({
        query,
        query_params: { ...params },
        clickhouse_settings: settings,
        abort_signal: signal,
      });
      return { body: answer.stream, rows: resultRows(answer.response_headers) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ClickHouseError)
        throw new ExportQueryError(`ClickHouse: ${error.message}`, { cause: error });
      throw new UnavailableError('ClickHouse does not respond; `chancery status` shows what is running', {
        cause: error,
      });
    }
  }
}
