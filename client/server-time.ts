import type { Clock } from '../core/index.js';
import { HttpTransport } from './http.js';

/** How far two clocks may drift apart in a second, seconds: far more than they do. */
const DRIFT = 0.0005;

/**
 * The exchange's time, as its answers tell it: every `Date` header bounds how far its clock is ahead of ours, since the
 * answer was made between our sending and our receiving, within the second that the header names. The bounds of many
 * answers together are narrower than a second. An answer that contradicts them means that a clock was set: it wins.
 */
export class ServerTime {
  #earliestMs = Number.NEGATIVE_INFINITY;
  #latestMs = Number.POSITIVE_INFINITY;
  #atMs = 0;

  constructor(private readonly clock: Clock) {}

  /** How far the exchange's clock is ahead of ours, milliseconds; null before the first answer. */
  get offsetMs(): number | null {
    return Number.isFinite(this.#latestMs) ? (this.#earliestMs + this.#latestMs) / 2 : null;
  }

  /** The time by the exchange's clock, whole Unix seconds: what signatures are made with. */
  nowSeconds(): number {
    return Math.floor((this.clock.nowMs() + (this.offsetMs ?? 0)) / 1000);
  }

  /**
   * Learns from an answer. One that is no date teaches nothing.
   * @param date the answer's `Date` header
   * @param sentAtMs our clock right before the request was sent
   * @param receivedAtMs our clock after the answer came
   */
  observe(date: string | undefined, sentAtMs: number, receivedAtMs: number): void {
    const saidMs = date !== undefined && /^[A-Z][a-z]{2,8}[, ]/.test(date) ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(saidMs) || receivedAtMs < sentAtMs) return;
    const earliest = saidMs - receivedAtMs;
    const latest = saidMs + 1000 - sentAtMs;
    const widened = DRIFT * Math.abs(receivedAtMs - this.#atMs);
    this.#earliestMs = Math.max(this.#earliestMs - widened, earliest);
    this.#latestMs = Math.min(this.#latestMs + widened, latest);
    this.#atMs = receivedAtMs;
    if (this.#earliestMs <= this.#latestMs) return;
    this.#earliestMs = earliest;
    this.#latestMs = latest;
  }

  /**
   * Asks a server for its time: any answer to a GET carries it.
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
