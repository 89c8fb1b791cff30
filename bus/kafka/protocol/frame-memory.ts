/** Shorter answers get memory of their own: there is little to gain. */
const SHORT_BYTES = 64 * 1024;
/** Memory that nobody uses and that is kept for the next answers, bytes. */
const KEPT_BYTES = 64 * 2 ** 20;
/** Memory is not given to an answer that would fill less than one part in so many of it. */
const MOST_ROOM = 4;

/**
 * Memory for answers, used again when all who hold it have let go: new memory for each answer makes V8 collect garbage
 * again and again. Memory that is never let go of is collected like any other.
 */
export class FrameMemory {
  /** What nobody holds, the one that was let go of first at the beginning. */
  readonly #free: ArrayBuffer[] = [];
  #freeBytes = 0;
  /** How many hold each piece of memory that is in use. */
  readonly #holders = new WeakMap<ArrayBufferLike, number>();

  /** Memory of so many bytes, with anything in them; whoever takes it holds it. */
  take(bytes: number): Buffer {
    if (bytes < SHORT_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const memory = this.#reuse(bytes) ?? Buffer.allocUnsafeSlow(roomFor(bytes)).buffer;
    this.#holders.set(memory, 1);
    return Buffer.from(memory, 0, bytes);
  }

  /** One more holds the memory that the bytes lie in. */
  hold({ buffer }: Buffer): void {
    const holders = this.#holders.get(buffer);
    if (holders !== undefined) this.#holders.set(buffer, holders + 1);
  }

  /** One of those who hold it does not read it any more. */
  letGo({ buffer }: Buffer): void {
    const holders = this.#holders.get(buffer);
    if (holders === undefined) return;
    if (holders > 1) {
      this.#holders.set(buffer, holders - 1);
      return;
    }
    this.#holders.delete(buffer);
    this.#free.push(buffer as ArrayBuffer);
    this.#freeBytes += buffer.byteLength;
    while (this.#freeBytes > KEPT_BYTES) this.#freeBytes -= this.#free.shift()?.byteLength ?? this.#freeBytes;
  }

  /** The smallest free memory that has room, and not far too much of it. */
  #reuse(bytes: number): ArrayBuffer | undefined {
    let best = -1;
    for (const [i, { byteLength }] of this.#free.entries()) {
      if (byteLength < bytes || byteLength > bytes * MOST_ROOM) continue;
      if (best < 0 || byteLength < (this.#free[best]?.byteLength ?? 0)) best = i;
    }
    if (best < 0) return undefined;
    const [memory] = this.#free.splice(best, 1);
    this.#freeBytes -= memory?.byteLength ?? 0;
    return memory;
  }
}

/** A little more than so many bytes, so that it fits the next answer too: one of eight sizes below each power of two. */
function roomFor(bytes: number): number {
  const step = 2 ** (Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}
