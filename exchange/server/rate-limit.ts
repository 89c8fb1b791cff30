/** Limits requests per second and client, in windows of one second that begin with a client's first request. */
export class RateLimit {
  #windows = new Map<string, { startMs: number; count: number }>();
  #sweptMs = 0;

  constructor(
    private readonly perSecond: number,
    private readonly nowMs: () => number,
  ) {}

  /** Counts the request; when it exceeds the limit, returns after how many seconds to retry. */
  refuse(client: string): number | undefined {
    const now = this.nowMs();
    this.#sweep(now);
    const window = this.#windows.get(client);
    if (!window || now - window.startMs >= 1000) {
      this.#windows.set(client, { startMs: now, count: 1 });
      return undefined;
    }
    window.count += 1;
    return window.count > this.perSecond ? Math.max(1, Math.ceil((window.startMs + 1000 - now) / 1000)) : undefined;
  }

  /** Removes clients whose window is over. */
  #sweep(now: number): void {
    if (now - this.#sweptMs < 10_000) return;
    this.#sweptMs = now;
    for (const [client, window] of this.#windows) if (now - window.startMs >= 1000) this.#windows.delete(client);
  }
}
