const SCALE = 10_000;

/** Interned prices, by number: each is stored once per partition, so that a price column is a column of small integers. */
export class PriceTable {
  readonly #values: number[] = [];
  readonly #numbers = new Map<number, number>();
  /** Number + 1 of each price with up to four decimals, indexed by ten thousandths; 0 if unknown. */
  readonly #scaled = new Int32Array(SCALE + 1);

  get size(): number {
    return this.#values.length;
  }

  intern(value: number): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    const number = this.#values.length;
    // Adding 0 turns a negative zero into zero, as the map does with its keys.
    this.#values.push(value + 0);
    this.#numbers.set(value, number);
    return number;
  }

  /** The number of the price `tenThousandths / 10000`; `tenThousandths` is an integer from 0 to 10000. */
  internScaled(tenThousandths: number): number {
    const known = this.#scaled[tenThousandths] as number;
    if (known !== 0) return known - 1;
    const number = this.intern(tenThousandths / SCALE);
    this.#scaled[tenThousandths] = number + 1;
    return number;
  }

  valueOf(number: number): number {
    const value = this.#values[number];
    if (value === undefined) throw new RangeError(`no price has number ${number}`);
    return value;
  }
}
