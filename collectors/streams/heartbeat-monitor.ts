import type { Clock } from '../../core/index.js';

/** Heartbeats that may be missing. */
const MISSING = 2.5;
const TICKS_PER_SILENCE = 20;

/**
 * Watches a stream whose only proof of life is a heartbeat. What interval the exchange keeps is learnt; one that sends
 * none is not suspected.
 */
export class HeartbeatWatch {
  #intervalMs = 0;
  #lastPing: number | undefined;
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param silenceMs silence that is never suspicious, milliseconds
   * @param onSilence nothing came for too long; answers whether that was acted on
   */
  constructor(
    private readonly clock: Clock,
    private readonly silenceMs: number,
    private readonly onSilence: (cause: string) => boolean,
  ) {}

  /** A connection is open. */
  begin(atMicros: number): void {
    this.#heardAt = atMicros;
    this.#lastPing = undefined;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#check(), this.silenceMs / TICKS_PER_SILENCE);
  }

  /** A frame came, of whatever kind. */
  heard(atMicros: number): void {
    this.#heardAt = atMicros;
  }

  ping(atMicros: number): void {
    if (this.#lastPing !== undefined) this.#intervalMs = Math.max(this.#intervalMs, (atMicros - this.#lastPing) / 1000);
    this.#lastPing = atMicros;
  }

  /** The connection is gone. */
  end(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const silentMs = this.clock.nowMs() - this.#heardAt / 1000;
    if (this.#intervalMs === 0 || silentMs <= Math.max(this.silenceMs, MISSING * this.#intervalMs)) return;
    const cause = `no heartbeat for ${Math.round(silentMs)} ms`;
    if (this.onSilence(cause)) this.end();
    else this.#heardAt = this.clock.nowMicros();
  }
}
