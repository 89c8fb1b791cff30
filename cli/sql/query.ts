import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { ChanceryError, UnavailableError, UsageError } from '../../core/index.js';
import { resultRows } from '../../warehouse/index.js';
import { parameterHint } from './parameter-hint.js';

export const OUTPUT_FORMATS = ['table', 'json', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const WIRE_FORMATS: Readonly<Record<OutputFormat, string>> = {
  table: 'JSONCompactStringsEachRowWithNamesAndTypes',
  json: 'JSONEachRow',
  csv: 'CSVWithNames',
};

/** ClickHouse rejected or cancelled the statement; the message is ClickHouse's, shortened. */
class QueryError extends ChanceryError {
  readonly retryable = false;
}

/** The result of one statement, as a stream. */
export interface Answer {
  readonly body: Readable;
  /** False when the statement has its own FORMAT clause, which determines the body. */
  readonly inOurFormat: boolean;
  readonly elapsedSeconds: number;
}

/**
 * Runs one statement. The result starts only after the statement has succeeded, so a failure never leaves a partial one.
 * @throws QueryError with ClickHouse's reason; UnavailableError when ClickHouse does not respond
 */
export async function ask(
  client: ClickHouseClient,
  statement: string,
  format: OutputFormat,
  signal?: AbortSignal,
): Promise<Answer> {
  if (statement.trim() === '') throw new UsageError('there is no statement to run: chancery sql "SELECT 1"');
  const wanted = WIRE_FORMATS[format];
  const startedAt = performance.now();
  try {
    const result = await client.exec({
      query: statement,
      http_headers: { 'X-ClickHouse-Format': wanted },
      clickhouse_settings: { wait_end_of_query: 1 },
      ...(signal ? { abort_signal: signal } : {}),
    });
    const inOurFormat = result.response_headers['x-clickhouse-format'] === wanted;
    return {
      body: inOurFormat && resultRows(result.response_headers) > 0 ? nonEmpty(result.stream) : result.stream,
      inOurFormat,
      elapsedSeconds: (performance.now() - startedAt) / 1000,
    };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof ClickHouseError) throw new QueryError(reasonOf(error) + parameterHint(statement, error.code));
    throw new UnavailableError('ClickHouse does not respond; `chancery status` shows what is running', {
      cause: error,
    });
  }
}

/** The same bytes; fails if there are none, as when ClickHouse could not store a result on its full disk. */
function nonEmpty(body: Readable): Readable {
  const bytes = async function* () {
    let empty = true;
    for await (const chunk of body) {
      empty = false;
      yield chunk;
    }
    if (empty)
      throw new UnavailableError('the result is empty although ClickHouse found rows; check that its disk is not full');
  };
  return Readable.from(bytes(), { objectMode: false });
}

/** ClickHouse's message without codes, versions and the list of what the parser expected. */
export function reasonOf(error: ClickHouseError): string {
  const reason = error.message
    .replace(/\s+/g, ' ')
    .replace(/\. Expected one of: .*$/, '')
    .replace(/ \(version [^)]*\)/g, '')
    .replace(/[ .]+$/, '');
  if (error.code === '396')
    return `${reason}; no row was printed: add LIMIT, aggregate, ask for one part at a time (a day, a market), or raise --reader-max-rows of the embedded server`;
  if (error.code === '159')
    return `${reason}; ask for less: filter by market, event or time, or raise --reader-max-seconds of the embedded server`;
  if (error.code === '241')
    return `${reason}; ask for less: filter by market, event or time, or raise --clickhouse-memory of the embedded server, of which a query may use half`;
  if (error.code === '164' || error.code === '497') return `${reason}; chancery sql only reads, in Chancery's database`;
  if (error.code === '81') return `${reason}: nothing is recorded there yet; \`chancery up\` starts recording`;
  return reason;
}
