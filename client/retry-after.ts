/** Upper bound of the delay that a server can require, milliseconds: one response must not stop a poll for long. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * The delay of a Retry-After header (whole seconds or an HTTP date), milliseconds, at most one minute. Undefined when
 * there is no header or it is invalid.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  const at = /^[A-Z][a-z]{2,}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - nowMs), MAX_RETRY_AFTER_MS);
}
