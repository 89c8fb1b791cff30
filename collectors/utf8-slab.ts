const SLAB_BYTES = 256 * 1024;
/** Bytes of UTF-8 that one UTF-16 unit takes at most. */
const MOST_PER_UNIT = 3;

/** Encodes texts one after the other into shared memory, which lives as long as one of them: each alone would cost its own. */
export class Utf8Slab {
  #slab: Buffer = Buffer.alloc(0);
  #used = 0;

  /** The text's bytes; nobody else ever writes there. */
  encode(text: string): Buffer {
    const most = text.length * MOST_PER_UNIT;
    if (this.#slab.length - this.#used < most) {
      // What is long gets its own, so that the present one is filled.
      if (most > SLAB_BYTES / 8) return Buffer.from(text, 'utf8');
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += this.#slab.write(text, start, 'utf8');
    return this.#slab.subarray(start, this.#used);
  }
}
