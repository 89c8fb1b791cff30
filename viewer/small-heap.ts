import { setFlagsFromString } from 'node:v8';

/** By how much the heap may grow before its garbage is collected, per cent: results are large and live for a moment. */
const HEAP_GROWING_PERCENT = 10;

/** For a process that is only a viewer: less memory, for more time that the garbage collector takes. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  // The space of new objects stays as large as it is when the process has started: by default it grows to 48 MB.
  setFlagsFromString('--semi-space-growth-factor=1');
}
