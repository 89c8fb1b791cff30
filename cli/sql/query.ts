import type { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { ChanceryError, UnavailableError, UsageError } from '../../core/index.js';

export const OUTPUT_FORMATS = ['table', 'json', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const WIRE_FORMATS: Readonly<Record<OutputFormat, string>> = {
  table: 'JSONCompactStringsEachRowWithNamesAndTypes',
  json: 'JSONEachRow',
  csv: 'CSVWithNames',
};

/** ClickHouse refused or cancelled the statement; the message is ClickHouse's, shortened. */
export class QueryError extends ChanceryError {
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
 * Sends one statement. The result starts only after the statement succeeded, so a failure never leaves a partial result.
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
    return {
      body: result.stream,
      inOurFormat: result.response_headers['x-clickhouse-format'] === wanted,
      elapsedSeconds: (performance.now() - startedAt) / 1000,
    };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof ClickHouseError) throw new QueryError(reasonOf(error) + parameterHint(statement, error));
    throw new UnavailableError('ClickHouse does not respond; `chancery status` shows what runs', { cause: error });
  }
}

/** Views with parameters, and an example of them. */
const PARAMETERS: Readonly<Record<string, string>> = {
  candles: 'period_seconds = 60',
  chance_candles: 'period_seconds = 60',
  movers: 'window_seconds = 86400',
  spread_stats: 'window_seconds = 86400',
};

/** The error message of ClickHouse for a parameterised view without parameters does not name them. */
function parameterHint(statement: string, { code }: ClickHouseError): string {
  if (!['47', '51', '90', '456'].includes(code)) return '';
  for (const [view, example] of Object.entries(PARAMETERS)) {
    const [name = ''] = example.split(' ');
    if (!new RegExp(`\\b${view}\\b(?!\\s*\\(\\s*${name}\\b)`).test(statement)) continue;
    return `; ${view} needs a parameter, in seconds: ${view}(${example})`;
  }
  return '';
}

/** ClickHouse's message without codes, versions and the list of what the parser expected. */
export function reasonOf(error: ClickHouseError): string {
  const reason = error.message
    .replace(/\s+/g, ' ')
    .replace(/\. Expected one of: .*$/, '')
    .replace(/ \(version [^)]*\)/g, '')
    .replace(/[ .]+$/, '');
  if (error.code === '396') return `${reason}; reduce the result: add LIMIT, or aggregate`;
  if (error.code === '164' || error.code === '497') return `${reason}; chancery sql only reads, in Chancery's database`;
  if (error.code === '81') return `${reason}: nothing is recorded there yet; \`chancery up\` starts recording`;
  return reason;
}
