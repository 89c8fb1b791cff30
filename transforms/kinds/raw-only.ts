import type { Transform } from './transform.js';

/** For records that are stored in `raw_records` only: feeds whose messages are not documented (part 6.5). */
export const rawOnly: Transform = () => undefined;
