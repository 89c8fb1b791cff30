/** The refresh intervals, and the longest average query time of a panel for each, milliseconds. */
const INTERVALS = [
  { ms: 500, queryMs: 75 },
  { ms: 1000, queryMs: 100 },
  { ms: 2000, queryMs: 200 },
];
/** How long a panel keeps its interval, milliseconds: a multiple of all intervals. */
const WINDOW_MS = 2000;
/** Minimum interval per viewer of the panel: 20 viewers need an interval of 500 ms. */
const MS_PER_VIEWER = 25;
/** Weight of the newest query in the average of their times. */
const NEWEST_WEIGHT = 0.3;
/** Factor by which the number of viewers falls after each window, unless more of them ask. */
const LEFT_VIEWERS = 0.9;
const MAX_PANELS = 1000;

interface Observed {
  /** Average time of its queries, milliseconds; undefined until one has ended. */
  queryMs: number | undefined;
  window: number;
  /** The interval in this window; undefined if none of `INTERVALS` is long enough. */
  intervalMs: number | undefined;
  /** Requests in the window. */
  asked: number;
  viewers: number;
}

/**
 * The refresh intervals of panels that show the present: shorter than that of their dashboard where their queries are fast and
 * their viewers few. All viewers of a panel have the same one.
 */
export class LiveIntervals {
  readonly #panels = new Map<string, Observed>();

  constructor(private readonly nowMs: () => number) {}

  /**
   * The interval for a request, milliseconds.
   * @param refreshMs of the dashboard: the longest one, and that of a panel whose queries have not been measured
   */
  intervalMs(panel: string, refreshMs: number): number {
    const window = Math.floor(this.nowMs() / WINDOW_MS);
    const observed = this.#observed(panel, window);
    if (window !== observed.window) {
      observed.window = window;
      observed.asked = 0;
      observed.viewers *= LEFT_VIEWERS;
      observed.intervalMs = intervalOf(observed);
    }
    observed.asked++;
    const { intervalMs = WINDOW_MS } = observed;
    observed.viewers = Math.max(observed.viewers, (observed.asked * intervalMs) / WINDOW_MS);
    return Math.min(observed.intervalMs ?? refreshMs, refreshMs);
  }

  /** The interval after which a page asks again, by what is known now. */
  nextMs(panel: string, refreshMs: number): number {
    const observed = this.#panels.get(panel);
    return Math.min((observed && intervalOf(observed)) ?? refreshMs, refreshMs);
  }

  /** @param queryMs time of a panel's query, without the time that it waited */
  measured(panel: string, queryMs: number): void {
    const observed = this.#panels.get(panel);
    if (!observed) return;
    const former = observed.queryMs ?? queryMs;
    observed.queryMs = former + NEWEST_WEIGHT * (queryMs - former);
  }

  #observed(panel: string, window: number): Observed {
    const known = this.#panels.get(panel);
    if (known) return known;
    const [oldest] = this.#panels.keys();
    if (this.#panels.size >= MAX_PANELS && oldest !== undefined) this.#panels.delete(oldest);
    const observed: Observed = { queryMs: undefined, window, intervalMs: undefined, asked: 0, viewers: 0 };
    this.#panels.set(panel, observed);
    return observed;
  }
}

function intervalOf({ queryMs, viewers }: Observed): number | undefined {
  if (queryMs === undefined) return undefined;
  return INTERVALS.find((one) => queryMs <= one.queryMs && one.ms >= MS_PER_VIEWER * viewers)?.ms;
}
