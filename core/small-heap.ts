import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By how much the heap may grow before its garbage is collected, per cent: results are large and live for a moment. */
const HEAP_GROWING_PERCENT = 10;

/** Texts of this size leave several times as much garbage, for which the collector would wait longer than there is memory. */
const COLLECTED_AFTER_BYTES = 6e6;
/** The same for received bytes, which become garbage while they are young: without it, V8 would collect them only after 64 MB. */
const CHUNKS_COLLECTED_AFTER_BYTES = 3e6;

let collect: ((options?: { readonly type: 'minor' }) => void) | undefined;

/** For a process that large results pass through: less memory, for more time that the garbage collector takes. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  // The space of new objects stays as large as it is when the process has started: by default it grows to 48 MB.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--expose-gc');
  collect = runInNewContext('gc') as typeof collect;
}

/** Counts a text that is needed no more. Where the heap is kept small, garbage is collected after a few megabytes of them. */
export const countGarbage = collectAfter(COLLECTED_AFTER_BYTES);

/** As `countGarbage`, of bytes that were received and are needed no more. */
export const countChunk = collectAfter(CHUNKS_COLLECTED_AFTER_BYTES, { type: 'minor' });

function collectAfter(limit: number, options?: { readonly type: 'minor' }): (bytes: number) => void {
  let counted = 0;
  return (bytes) => {
    counted += bytes;
    if (counted < limit) return;
    counted = 0;
    collect?.(options);
  };
}
