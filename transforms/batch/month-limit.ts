/** Limits the months of receive time in a batch: each month is a table partition. */
export class MonthLimit {
  readonly #months = new Set<number>();
  /** The month of the last record, Unix microseconds. */
  #start = 0;
  #end = 0;

  constructor(private readonly max: number) {}

  /** Whether a record with this receive time, Unix microseconds, fits into the batch; if so, adds its month. */
  admit(receivedAt: number): boolean {
    if (receivedAt >= this.#start && receivedAt < this.#end) return true;
    const date = new Date(receivedAt / 1000);
    const [year, monthOfYear] = [date.getUTCFullYear(), date.getUTCMonth()];
    const month = year * 12 + monthOfYear;
    if (!this.#months.has(month) && this.#months.size >= this.max) return false;
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
