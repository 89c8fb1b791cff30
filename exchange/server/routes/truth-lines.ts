import { setImmediate } from 'node:timers/promises';

const ROWS_PER_CHUNK = 500;

/**
 * The rows after a sequence number as lines of JSON, in chunks; it yields to the event loop between them. Ends at the
 * newest row.
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
