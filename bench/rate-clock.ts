/** Interval between queries for the number of visible rows, milliseconds. Each query slows the measured processes down. */
export const POLL_MS = 50;

/** The measured interval of `RateClock`, for the description of figures. */
export const RATE_CLOCK = 'from 20 % to 90 % of the rows';
const BEGIN_SHARE = 0.2;
const END_SHARE = 0.9;

interface Sample {
  readonly rows: number;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Rows per second between the first sample with at least 20 % of all rows and the first with at least 90 %. So the start
 * of a process, joining a consumer group, and the last small batch are not measured.
 */
export class RateClock {
  readonly #start: Sample = { rows: 0, at: performance.now() };
  #begin: Sample | undefined;
  #end: Sample | undefined;

  constructor(private readonly rows: number) {}

  /**
   * Records the result of a query that has just returned.
   * @param allPartitions whether there were rows of every partition
   */
  sample(rows: number, allPartitions = true): void {
    const sample = { rows, at: performance.now() };
    if (allPartitions && rows >= this.rows * BEGIN_SHARE) this.#begin ??= sample;
    if (this.#begin && rows >= this.rows * END_SHARE) this.#end ??= sample;
  }

  get running(): boolean {
    return this.#begin !== undefined;
  }

  /** Valid once all rows are visible. */
  get rowsPerSecond(): number {
    const end = this.#end;
    if (!end) throw new Error('too few rows are visible');
    // In a quick run one sample may contain all rows.
    const begin = this.#begin === end ? this.#start : (this.#begin ?? this.#start);
    return Math.round(((end.rows - begin.rows) * 1000) / (end.at - begin.at));
  }
}
