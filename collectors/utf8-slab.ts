const SLAB_BYTES = 256 * 1024;
/** Maximum bytes of UTF-8 per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

/** Encodes texts into slabs of shared memory, which saves an allocation per text. A slab is freed with the last of its texts. */
export class Utf8Slab {
  #slab: Buffer = Buffer.alloc(0);
  #used = 0;

  /** The text in UTF-8; the bytes are never overwritten. */
  encode(text: string): Buffer {
    const maxBytes = text.length * MAX_BYTES_PER_UNIT;
    if (this.#slab.length - this.#used < maxBytes) {
      // A long text gets memory of its own, so that the current slab can be filled.
      if (maxBytes > SLAB_BYTES / 8) return Buffer.from(text, 'utf8');
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += this.#slab.write(text, start, 'utf8');
    return this.#slab.subarray(start, this.#used);
  }
}
