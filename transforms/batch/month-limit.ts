/** The months of receive time that a batch touches: each is a partition of the tables. */
export class MonthSpan {
  readonly #months = new Set<number>();
  /** The month last entered, Unix microseconds. */
  #start = 0;
  #end = 0;

  constructor(private readonly most: number) {}

  /** Counts the month of a time, Unix microseconds; false, and nothing counted, when it would be one too many. */
  enter(at: number): boolean {
    if (at >= this.#start && at < this.#end) return true;
    const date = new Date(at / 1000);
    const [year, monthOfYear] = [date.getUTCFullYear(), date.getUTCMonth()];
    const month = year * 12 + monthOfYear;
    if (!this.#months.has(month) && this.#months.size >= this.most) return false;
    this.#months.add(month);
    this.#start = Date.UTC(year, monthOfYear) * 1000;
    this.#end = Date.UTC(year, monthOfYear + 1) * 1000;
    return true;
  }

  clear(): void {
    this.#months.clear();
    this.#start = 0;
    this.#end = 0;
  }
}
