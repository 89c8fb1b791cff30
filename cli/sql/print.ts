import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { drained } from '../../core/index.js';
import { formatCount, formatSeconds } from '../format.js';
import type { Answer, OutputFormat } from './query.js';
import { parseRows, renderTable } from './table.js';

/** The streams for a result and for remarks about it. */
export interface Printer {
  readonly out: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly remarks: Writable;
}

/**
 * Writes a result in the given format; for a table, row count and duration are remarks. Resolves when all of it was
 * written.
 */
export async function printAnswer(
  answer: Answer,
  format: OutputFormat,
  { out, remarks }: Printer,
  signal?: AbortSignal,
): Promise<void> {
  if (!answer.inOurFormat || format === 'csv') await pipe(answer.body, out, signal);
  else if (format === 'json') await pipe(asArray(answer.body), out, signal);
  else await printTable(answer, { out, remarks });
  await drained(out, signal);
}

async function printTable(answer: Answer, { out, remarks }: Printer): Promise<void> {
  const rows = parseRows(await text(answer.body));
  if (rows.names.length > 0) {
    const { lines, cut } = renderTable(rows, out.isTTY ? (out.columns ?? 80) : Number.POSITIVE_INFINITY);
    out.write(`${lines.join('\n')}\n`);
    if (cut) remarks.write('(cut to the width of this window; --format json shows everything)\n');
  }
  if (out.isTTY) remarks.write(`${count(rows.cells.length)} in ${formatSeconds(answer.elapsedSeconds)}\n`);
}

function count(rows: number): string {
  return rows === 1 ? '1 row' : `${formatCount(rows)} rows`;
}

async function pipe(source: AsyncIterable<Buffer | string>, out: Writable, signal?: AbortSignal): Promise<void> {
  for await (const chunk of source) if (!out.write(chunk)) await drained(out, signal);
}

/** One JSON object per line → one JSON array, as a stream. */
async function* asArray(source: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let separator = '[\n';
  for await (const chunk of source) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      yield separator + line;
      separator = ',\n';
    }
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}
