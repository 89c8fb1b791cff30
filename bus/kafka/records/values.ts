/** Collects values one after the other, with their bounds. */
export class Values {
  #bytes: Buffer;
  #bounds = new Uint32Array(1024);
  #size = 0;
  count = 0;

  constructor(room: number) {
    this.#bytes = Buffer.allocUnsafe(room);
  }

  /** False, and nothing is added, when there is one already and this one would make it more than `maxBytes`. */
  add(from: Buffer, start: number, end: number, maxBytes: number): boolean {
    const size = this.#size + end - start;
    if (this.count > 0 && size > maxBytes) return false;
    if (size > this.#bytes.length) this.#grow(Math.max(size, Math.min(maxBytes, this.#bytes.length * 2)));
    from.copy(this.#bytes, this.#size, start, end);
    this.#size = size;
    this.count++;
    if (this.count === this.#bounds.length) {
      const larger = new Uint32Array(this.#bounds.length * 2);
      larger.set(this.#bounds);
      this.#bounds = larger;
    }
    this.#bounds[this.count] = size;
    return true;
  }

  finish(): { count: number; bytes: Buffer; bounds: Uint32Array } {
    return {
      count: this.count,
      bytes: this.#bytes.subarray(0, this.#size),
      bounds: this.#bounds.subarray(0, this.count + 1),
    };
  }

  #grow(room: number): void {
    const larger = Buffer.allocUnsafe(room);
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}
