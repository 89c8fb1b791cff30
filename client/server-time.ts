import type { Clock } from '../core/index.js';
import { HttpTransport } from './http.js';

/** Assumed drift between two clocks, seconds per second: far more than real clocks have. */
const DRIFT = 0.0005;

/**
 * An estimate of the exchange's clock from the `Date` headers of its responses. A response was made between our sending
 * the request and our receiving it, within the second of its header, which bounds how far the exchange's clock is ahead
 * of ours. The bounds of many responses together are narrower than a second. A response that contradicts them means that
 * a clock was set: the bounds then start again from it.
 */
export class ServerTime {
  #earliestMs = Number.NEGATIVE_INFINITY;
  #latestMs = Number.POSITIVE_INFINITY;
  #atMs = 0;

  constructor(private readonly clock: Clock) {}

  /** How far the exchange's clock is ahead of ours, milliseconds; null before the first response. */
  get offsetMs(): number | null {
    return Number.isFinite(this.#latestMs) ? (this.#earliestMs + this.#latestMs) / 2 : null;
  }

  /** The exchange's time, whole Unix seconds: the timestamp of signatures. */
  nowSeconds(): number {
    return Math.floor((this.clock.nowMs() + (this.offsetMs ?? 0)) / 1000);
  }

  /**
   * Updates the estimate from a response. An invalid date is ignored.
   * @param date the response's `Date` header
   * @param sentAtMs our clock right before the request was sent
   * @param receivedAtMs our clock after the response was received
   */
  observe(date: string | undefined, sentAtMs: number, receivedAtMs: number): void {
    const dateMs = date !== undefined && /^[A-Z][a-z]{2,8}[, ]/.test(date) ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(dateMs) || receivedAtMs < sentAtMs) return;
    const earliest = dateMs - receivedAtMs;
    const latest = dateMs + 1000 - sentAtMs;
    const widened = DRIFT * Math.abs(receivedAtMs - this.#atMs);
    this.#earliestMs = Math.max(this.#earliestMs - widened, earliest);
    this.#latestMs = Math.min(this.#latestMs + widened, latest);
    this.#atMs = receivedAtMs;
    if (this.#earliestMs <= this.#latestMs) return;
    this.#earliestMs = earliest;
    this.#latestMs = latest;
  }

  /**
   * Requests a server's time: the response to any GET has a `Date` header.
   * @throws TransportError; the signal's reason when it is aborted
   */
  async measure(url: string, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { origin, pathname } = new URL(url.replace(/^ws/, 'http'));
    const transport = new HttpTransport({ timeoutMs, maxBodyBytes: 1024 * 1024, connections: 1, clock: this.clock });
    try {
      const sentAtMs = this.clock.nowMs();
      const what = `the time of ${origin}`;
      const answer = await transport.send({ what, method: 'GET', origin, target: pathname }, signal);
      this.observe(answer.headers['date'], sentAtMs, answer.receivedAtMicros / 1000);
    } finally {
      await transport.close();
    }
  }
}
