/** A message above the maximum size, which closes its connection. */
export interface LargeFrame {
  /** The payload's length in the frame header, bytes; null for a message in several frames or without a usable length. */
  readonly declaredBytes: number | null;
  /** The first bytes of the payload that were received, at most 4096. */
  readonly firstBytes: Buffer;
}

const MAX_FIRST_BYTES = 4096;
const MAX_HEADER_BYTES = 10;
const CONTINUATION = 0x0;
const FIRST_CONTROL_OPCODE = 0x8;

/**
 * Reads the frame headers (RFC 6455, 5.2) in the bytes that a client receives, up to the first message above the maximum
 * size: `ws` reports such a message without its length and content.
 */
export class FrameHeaderReader {
  readonly #header = Buffer.alloc(MAX_HEADER_BYTES);
  #headerBytes = 0;
  /** Payload bytes of the current frame that are not received yet. */
  #payloadLeft = 0;
  #messageBytes = 0;
  #fragmented = false;
  #tooLarge = false;
  #declaredBytes: number | null = null;
  #capturing = false;
  #captured: Buffer[] = [];
  #capturedBytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Whether the first bytes of a message above the maximum size were received. */
  get complete(): boolean {
    return this.#tooLarge && (this.#payloadLeft === 0 || this.#capturedBytes === MAX_FIRST_BYTES);
  }

  /** The message above the maximum size; before one is found, the fragmented message that is being received. */
  get largeFrame(): LargeFrame {
    return { declaredBytes: this.#declaredBytes, firstBytes: Buffer.concat(this.#captured) };
  }

  /** Call with all bytes after the handshake, in order. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.complete) {
      if (this.#payloadLeft === 0) {
        at = this.#readHeader(chunk, at);
        continue;
      }
      const end = Math.min(at + this.#payloadLeft, chunk.length);
      if (this.#capturing) this.#capture(chunk, at, end);
      this.#payloadLeft -= end - at;
      at = end;
    }
  }

  /** Returns the position after the header, or the end of the chunk. */
  #readHeader(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      this.#header.writeUInt8(chunk.readUInt8(at), this.#headerBytes);
      this.#headerBytes += 1;
      if (this.#headerBytes < 2 || this.#headerBytes < headerLength(this.#header)) continue;
      this.#headerBytes = 0;
      this.#onHeader();
      return at + 1;
    }
    return chunk.length;
  }

  #onHeader(): void {
    const first = this.#header.readUInt8(0);
    const opcode = first & 0x0f;
    const length = payloadLength(this.#header);
    this.#payloadLeft = length;
    this.#capturing = false;
    if (opcode >= FIRST_CONTROL_OPCODE) return;
    if (opcode !== CONTINUATION) {
      this.#messageBytes = 0;
      this.#fragmented = (first & 0x80) === 0;
      this.#captured = [];
      this.#capturedBytes = 0;
    }
    this.#messageBytes += length;
    this.#tooLarge = this.#messageBytes > this.maxBytes;
    if (this.#tooLarge && !this.#fragmented && Number.isSafeInteger(length)) this.#declaredBytes = length;
    this.#capturing = this.#fragmented || this.#tooLarge;
  }

  #capture(chunk: Buffer, from: number, to: number): void {
    const part = Buffer.from(chunk.subarray(from, Math.min(to, from + MAX_FIRST_BYTES - this.#capturedBytes)));
    this.#capturedBytes += part.length;
    this.#captured.push(part);
  }
}

/** Length of a header in bytes, by its first two bytes; a server does not mask its frames. */
function headerLength(header: Buffer): number {
  const short = header.readUInt8(1) & 0x7f;
  if (short === 126) return 4;
  return short === 127 ? 10 : 2;
}

function payloadLength(header: Buffer): number {
  const short = header.readUInt8(1) & 0x7f;
  if (short === 126) return header.readUInt16BE(2);
  return short === 127 ? Number(header.readBigUInt64BE(2)) : short;
}
