/** Shorter buffers are not pooled: there is little to gain. */
const MIN_POOLED_BYTES = 64 * 1024;
/** Upper bound of the free memory in the pool, bytes. */
const MAX_FREE_BYTES = 64 * 2 ** 20;
/** A free buffer is not reused for a request of less than a quarter of its size. */
const MAX_SIZE_RATIO = 4;

/**
 * Reference-counted memory for responses, reused when its last holder releases it: allocating a buffer per response
 * makes V8 collect garbage all the time. Memory that is never released is collected like any other.
 */
export class BufferPool {
  /** Free memory, the least recently released first. */
  readonly #free: ArrayBuffer[] = [];
  #freeBytes = 0;
  /** Reference counts of the memory in use. */
  readonly #references = new WeakMap<ArrayBufferLike, number>();

  /** A buffer of this size with undefined content and a reference count of 1. */
  acquire(bytes: number): Buffer {
    if (bytes < MIN_POOLED_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const memory = this.#reuse(bytes) ?? Buffer.allocUnsafeSlow(capacityFor(bytes)).buffer;
    this.#references.set(memory, 1);
    return Buffer.from(memory, 0, bytes);
  }

  /** Adds a reference to the memory of a buffer. */
  retain({ buffer }: Buffer): void {
    const references = this.#references.get(buffer);
    if (references !== undefined) this.#references.set(buffer, references + 1);
  }

  /** Drops a reference; its holder must not read the buffer any more. */
  release({ buffer }: Buffer): void {
    const references = this.#references.get(buffer);
    if (references === undefined) return;
    if (references > 1) {
      this.#references.set(buffer, references - 1);
      return;
    }
    this.#references.delete(buffer);
    this.#free.push(buffer as ArrayBuffer);
    this.#freeBytes += buffer.byteLength;
    while (this.#freeBytes > MAX_FREE_BYTES) this.#freeBytes -= this.#free.shift()?.byteLength ?? this.#freeBytes;
  }

  /** The smallest free memory that is large enough, within the size ratio. */
  #reuse(bytes: number): ArrayBuffer | undefined {
    let best = -1;
    for (const [i, { byteLength }] of this.#free.entries()) {
      if (byteLength < bytes || byteLength > bytes * MAX_SIZE_RATIO) continue;
      if (best < 0 || byteLength < (this.#free[best]?.byteLength ?? 0)) best = i;
    }
    if (best < 0) return undefined;
    const [memory] = this.#free.splice(best, 1);
    this.#freeBytes -= memory?.byteLength ?? 0;
    return memory;
  }
}

/** Rounds up to one of eight sizes per power of two, so that the memory fits the next response too. */
function capacityFor(bytes: number): number {
  const step = 2 ** (Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}
