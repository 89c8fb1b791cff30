/** Collects start and end positions of values. */
export class Bounds {
  #pairs = new Uint32Array(2048);
  count = 0;

  clear(): void {
    this.count = 0;
  }

  add(start: number, end: number): void {
    const at = 2 * this.count;
    if (at === this.#pairs.length) {
      const larger = new Uint32Array(2 * at);
      larger.set(this.#pairs);
      this.#pairs = larger;
    }
    this.#pairs[at] = start;
    this.#pairs[at + 1] = end;
    this.count += 1;
  }

  /** A view of the collected positions, valid until the next `add`. */
  finish(): Uint32Array {
    return this.#pairs.subarray(0, 2 * this.count);
  }
}
