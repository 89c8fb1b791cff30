import type { FrameMemory } from './frame-memory.js';

const LENGTH_BYTES = 4;
/** No broker answers at such length; something that does not speak Kafka's protocol seems to. */
const MOST_FRAME_BYTES = 256 * 2 ** 20;
/** What TLS begins an alert with: its answer to somebody who does not speak it. */
const TLS_ALERT = 0x1503;

/** What came is not Kafka's protocol. */
export class NotKafkaError extends Error {
  readonly code: string;

  constructor(head: Buffer) {
    const alert = head.readUInt16BE(0) === TLS_ALERT;
    super(
      alert ? 'what answers speaks TLS' : `what answers does not speak Kafka's protocol (0x${head.toString('hex')})`,
    );
    this.code = alert ? 'ERR_TLS_ANSWERED' : 'ERR_NOT_KAFKA';
  }
}

/** Puts the frames of a connection together: a length, and so many bytes, each frame whole in memory of its own. */
export class FrameCutter {
  readonly #head = Buffer.alloc(LENGTH_BYTES);
  #headBytes = 0;
  #frame: Buffer | undefined;
  #filled = 0;

  /** @param deliver takes a whole frame, its length first; it holds the frame's memory from then on */
  constructor(
    private readonly memory: FrameMemory,
    private readonly deliver: (frame: Buffer) => void,
  ) {}

  /**
   * Takes the next bytes, which are the caller's again afterwards.
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
      this.deliver(frame);
    }
  }

  #begin(): void {
    const length = this.#head.readInt32BE(0);
    if (length < LENGTH_BYTES || length > MOST_FRAME_BYTES) throw new NotKafkaError(this.#head);
    this.#frame = this.memory.take(LENGTH_BYTES + length);
    this.#head.copy(this.#frame);
    this.#filled = LENGTH_BYTES;
    this.#headBytes = 0;
  }
}
