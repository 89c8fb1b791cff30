import type { Clock } from '../../core/index.js';

/** Heartbeat intervals of silence after which a stream is stale. */
const MAX_INTERVALS = 2.5;
const CHECKS_PER_SILENCE = 20;

/**
 * Monitors a stream that can be verified by its heartbeats only. It measures their interval; a stream without heartbeats
 * is never reported.
 */
export class HeartbeatMonitor {
  #intervalMs = 0;
  #heartbeatAt: number | undefined;
  #receivedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param silenceMs silence that is always tolerated, milliseconds
   * @param onSilence called after too long a silence; returns whether the stream reconnects
   */
  constructor(
    private readonly clock: Clock,
    private readonly silenceMs: number,
    private readonly onSilence: (cause: string) => boolean,
  ) {}

  /** Call when a connection was opened. */
  start(atMicros: number): void {
    this.#receivedAt = atMicros;
    this.#heartbeatAt = undefined;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#check(), this.silenceMs / CHECKS_PER_SILENCE);
  }

  /** Call for a frame of any kind. */
  onFrame(atMicros: number): void {
    this.#receivedAt = atMicros;
  }

  onHeartbeat(atMicros: number): void {
    const previous = this.#heartbeatAt;
    if (previous !== undefined) this.#intervalMs = Math.max(this.#intervalMs, (atMicros - previous) / 1000);
    this.#heartbeatAt = atMicros;
  }

  /** Call when the connection was closed. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const silentMs = this.clock.nowMs() - this.#receivedAt / 1000;
    if (this.#intervalMs === 0 || silentMs <= Math.max(this.silenceMs, MAX_INTERVALS * this.#intervalMs)) return;
    const cause = `no heartbeat for ${Math.round(silentMs)} ms`;
    if (this.onSilence(cause)) this.stop();
    else this.#receivedAt = this.clock.nowMicros();
  }
}
