/** Milliseconds between two looks at how many rows are visible: every look costs those who make rows. */
export const LOOK_MS = 50;

/** The rule of `RateClock`, for readers of the figures. */
export const RATE_CLOCK = 'from 20 % to 90 % of the rows';
const BEGIN_SHARE = 0.2;
const END_SHARE = 0.9;

interface Look {
  readonly rows: number;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Rows per second from the first look that saw 20 % of all rows to the first that saw 90 %, by the rows that these two
 * saw. Joining a group and starting a process are not measured, nobody is credited with a block that was under way
 * before, and none waits for its last small one.
 */
export class RateClock {
  readonly #start: Look = { rows: 0, at: performance.now() };
  #begin: Look | undefined;
  #end: Look | undefined;

  constructor(private readonly rows: number) {}

  /**
   * A look has just been answered.
   * @param everywhere whether there were rows of every partition
   */
  saw(rows: number, everywhere = true): void {
    const look = { rows, at: performance.now() };
    if (everywhere && rows >= this.rows * BEGIN_SHARE) this.#begin ??= look;
    if (this.#begin && rows >= this.rows * END_SHARE) this.#end ??= look;
  }

  get running(): boolean {
    return this.#begin !== undefined;
  }

  /** Once all rows were seen. */
  get rowsPerSecond(): number {
    const end = this.#end;
    if (!end) throw new Error('too few rows were seen');
    // One look may see all of a quick run.
    const begin = this.#begin === end ? this.#start : (this.#begin ?? this.#start);
    return Math.round(((end.rows - begin.rows) * 1000) / (end.at - begin.at));
  }
}
