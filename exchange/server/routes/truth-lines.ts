import { setImmediate } from 'node:timers/promises';

const ROWS_PER_CHUNK = 500;

/**
 * The rows after a sequence number as lines of JSON, in chunks: each is read in one go, and everything else runs between
 * them. Ends when everything that exists is read.
 */
export async function* truthLines<T extends { readonly seq: number }>(
  rowsAfter: (seq: number) => Iterable<T>,
  after: number,
): AsyncIterable<string> {
  for (let seq = after; ; ) {
    let text = '';
    let rows = 0;
    for (const row of rowsAfter(seq)) {
      text += `${JSON.stringify(row)}\n`;
      seq = row.seq;
      if (++rows === ROWS_PER_CHUNK) break;
    }
    if (rows > 0) yield text;
    if (rows < ROWS_PER_CHUNK) return;
    await setImmediate();
  }
}
