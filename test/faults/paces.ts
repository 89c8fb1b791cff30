import type { Pace } from './stage.js';

/** The defaults of a collector. */
export const FULL_PACE: Pace = { silenceMs: 20_000, auditMs: 30_000, events: 32 };
/** For runs of a few minutes. */
export const QUICK_PACE: Pace = { silenceMs: 4000, auditMs: 5000, events: 24 };
/** How many times each fault is caused in such a run. */
export const QUICK_OCCURRENCES = 1;
