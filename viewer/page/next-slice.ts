/** How long after the beginning of an interval a page asks, so that a clock that is a little fast does not matter. */
const AFTER_SLICE_MS = 50;
/** Pages differ in when they ask, so that many of them do not ask at the same moment: by this fraction of the interval. */
const SPREAD = 0.1;
const MAX_SPREAD_MS = 1000;
const share = Math.random();

/** Milliseconds until this page asks in the next interval, when results of the one before are no longer kept. */
export const untilNextSlice = (intervalMs: number): number =>
  intervalMs - (Date.now() % intervalMs) + AFTER_SLICE_MS + share * Math.min(MAX_SPREAD_MS, SPREAD * intervalMs);
