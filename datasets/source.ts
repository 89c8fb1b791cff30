import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { ChanceryError, describeError, UnavailableError } from '../core/index.js';
import { type ClickHouseEndpoint, resultRows } from '../warehouse/index.js';

/** A client of an embedded server of a dataset; the settings are those of every query. */
export function openClient(
  { url, user, password }: ClickHouseEndpoint,
  database: string,
  settings: ClickHouseSettings = {},
): ClickHouseClient {
  return createClient({
    ...{ url, username: user, password: password.reveal(), database, application: 'chancery dataset' },
    request_timeout: 3_600_000,
    clickhouse_settings: settings,
    log: { level: ClickHouseLogLevel.OFF },
  });
}

/** ClickHouse rejected or cancelled a query of an export. */
export class ExportQueryError extends ChanceryError {
  readonly retryable = false;
}

/** A complete result of a query: the server sends it when the query is finished. */
export interface Result {
  readonly body: AsyncIterable<Buffer>;
  readonly rows: number;
}

/** The ClickHouse that is exported. */
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
    const answer = await this.#send(query, { params, settings: { wait_end_of_query: 1 }, signal });
    return { body: answer.stream, rows: resultRows(answer.response_headers) };
  }

  /**
   * As `result`, while the query runs: the server stores nothing of it. It may fail behind its first rows.
   * @throws ExportQueryError when ClickHouse breaks off the result
   */
  async stream(
    query: string,
    params: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    const answer = await this.#send(query, { params, settings: {}, signal });
    return unbroken(answer.stream, signal);
  }

  async #send(query: string, { params, settings, signal }: SendOptions) {
    try {
      return await this.client.exec({
        query,
        query_params: { ...params },
        clickhouse_settings: { ...settings, output_format_json_quote_64bit_integers: 0 },
        abort_signal: signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (isRejection(error)) throw new ExportQueryError(`ClickHouse: ${error.message}`, { cause: error });
      throw new UnavailableError('ClickHouse does not respond; `chancery status` shows what is running', {
        cause: error,
      });
    }
  }
}

/** A response with an error of ClickHouse, or of a library in it, which has no error code. */
const isRejection = (error: unknown): error is Error =>
  error instanceof ClickHouseError || (error instanceof Error && error.message.startsWith('std::exception'));

async function* unbroken(stream: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    signal.throwIfAborted();
    throw new ExportQueryError(
      `ClickHouse broke off a result before its end (${describeError(error)}): its log has the reason; run the command again`,
      { cause: error },
    );
  }
}

interface SendOptions {
  readonly params: Readonly<Record<string, string>>;
  readonly settings: ClickHouseSettings;
  readonly signal: AbortSignal;
}
