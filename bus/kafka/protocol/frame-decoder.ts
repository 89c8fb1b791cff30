import type { BufferPool } from './buffer-pool.js';

const LENGTH_BYTES = 4;
/** No response is this large; a larger length means that the peer does not speak Kafka's protocol. */
const MAX_FRAME_BYTES = 256 * 2 ** 20;
/** First bytes of a TLS alert, which a TLS server sends to a client that does not use TLS. */
const TLS_ALERT = 0x1503;

/** The peer does not speak Kafka's protocol. */
export class NotKafkaError extends Error {
  readonly code: string;

  constructor(head: Buffer) {
    const alert = head.readUInt16BE(0) === TLS_ALERT;
    super(alert ? 'the server uses TLS' : `the server does not speak Kafka's protocol (0x${head.toString('hex')})`);
    this.code = alert ? 'ERR_TLS_ANSWERED' : 'ERR_NOT_KAFKA';
  }
}

/** Splits a connection's bytes into frames (a 32-bit length and a body), each in one buffer of the pool. */
export class FrameDecoder {
  readonly #head = Buffer.alloc(LENGTH_BYTES);
  #headBytes = 0;
  #frame: Buffer | undefined;
  #filled = 0;

  /** @param onFrame receives a complete frame, its length first, and owns its buffer from then on */
  constructor(
    private readonly bufferPool: BufferPool,
    private readonly onFrame: (frame: Buffer) => void,
  ) {}

  /**
   * Copies the next bytes; the caller may reuse them afterwards.
   * @throws NotKafkaError
   */
  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      const frame = this.#frame;
      if (!frame) {
        this.#head[this.#headBytes++] = chunk[at++] as number;
        if (this.#headBytes === LENGTH_BYTES) this.#begin();
        continue;
      }
      const end = Math.min(chunk.length, at + frame.length - this.#filled);
      frame.set(chunk.subarray(at, end), this.#filled);
      this.#filled += end - at;
      at = end;
      if (this.#filled < frame.length) continue;
      this.#frame = undefined;
      this.onFrame(frame);
    }
  }

  #begin(): void {
    const length = this.#head.readInt32BE(0);
    if (length < LENGTH_BYTES || length > MAX_FRAME_BYTES) throw new NotKafkaError(this.#head);
    this.#frame = this.bufferPool.acquire(LENGTH_BYTES + length);
    this.#head.copy(this.#frame);
    this.#filled = LENGTH_BYTES;
    this.#headBytes = 0;
  }
}
