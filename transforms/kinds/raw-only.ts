import type { Transform } from './transform.js';

/** Records that are stored in `raw_records` only: feeds whose messages the interface does not show (part 6.5). */
export const rawOnly: Transform = () => undefined;
