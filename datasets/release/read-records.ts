import type { StoredRecord } from '../../transforms/index.js';
import type { ExportSource } from '../source.js';
import { text } from '../sql-text.js';
import { HAS_BODY } from './compare-rebuilt.js';

export interface RecordPartition {
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
}

const LINE_FEED = 10;

/**
 * The raw records of one partition that have their body, in the order of the bus.
 * @param from SQL of the rows of `raw_records`
 */
export async function* readRecords(
  source: ExportSource,
  from: string,
  { topic, log, partition }: RecordPartition,
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  const { body } = await source.result(
    `SELECT _offset AS offset, toUnixTimestamp64Micro(received_at) AS receivedAt, session_id AS sessionId, sequence, kind, encoding,
       piece, pieces, request, body
     FROM ${from}
     WHERE _topic = ${text(topic)} AND _log = ${text(log)} AND _partition = ${partition} AND ${HAS_BODY}
     ORDER BY _offset FORMAT JSONEachRow`,
    {},
    signal,
  );
  for await (const line of linesOf(body)) yield JSON.parse(line.toString('utf8')) as StoredRecord;
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...rest.splice(0), chunk.subarray(start, end)]);
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}
