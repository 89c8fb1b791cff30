import { countChunk } from '../core/index.js';
import { ExportQueryError } from './source.js';

/** Before each message of an Arrow IPC stream: 0xFFFFFFFF and the length of its metadata, both of 4 bytes. */
const PREFIX_BYTES = 8;
const CONTINUATION = 0xffffffff;
/** Instead of a message, at the end of a complete stream. */
const END = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
/** MessageHeader of Arrow's Message.fbs. */
const SCHEMA = 1;
const RECORD_BATCH = 3;
/** Fields of the table Message in Message.fbs, by number. */
const HEADER_TYPE = 1;
const BODY_LENGTH = 3;
/** ClickHouse writes why a query failed behind what it had sent of the result. */
const FAILURE_BYTES = 32_768;

/**
 * Cuts a result in FORMAT ArrowStream into streams of one record batch each; a result without rows is one stream without any.
 * They share one buffer: a yielded stream is valid until the next one is asked for.
 * @throws ExportQueryError when the query failed after its first rows, or the result breaks off
 */
export async function* arrowBatches(result: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const input = new Input(result);
  let schemaBytes = 0;
  let batches = 0;
  try {
    for (;;) {
      const start = schemaBytes;
      let end = await input.read(start, PREFIX_BYTES);
      const { buffer } = input;
      if (buffer.readUInt32LE(start) !== CONTINUATION) throw await failure(input, end - start, start);
      const metadataBytes = buffer.readUInt32LE(start + 4);
      if (metadataBytes === 0) break;
      const metadata = end;
      end = await input.read(metadata, metadataBytes);
      const { type, bodyBytes } = messageOf(input.buffer.subarray(metadata, end));
      end = await input.read(end, bodyBytes);
      if (type === SCHEMA) schemaBytes = end;
      else if (type === RECORD_BATCH) {
        batches++;
        yield input.stream(end);
      } else throw new Error(`a result in FORMAT ArrowStream has a message of type ${type}`);
    }
    if (batches === 0) yield input.stream(schemaBytes);
  } finally {
    await input.close();
  }
}

/** What follows is no Arrow data. */
async function failure(input: Input, read: number, start: number): Promise<Error> {
  const rest = await input.text(start, read);
  const message = /(?:__exception__\r\n\w+\r\n)?(.*?)(?:\n\d+ \w+\r\n__exception__\r\n)?$/s.exec(rest)?.[1] ?? rest;
  return new ExportQueryError(`ClickHouse: ${message.trim()}`);
}

/** Reads the two fields that lead to the next message from the FlatBuffers table Message. */
function messageOf(metadata: Buffer): { readonly type: number; readonly bodyBytes: number } {
  const table = metadata.readUInt32LE(0);
  const fields = table - metadata.readInt32LE(table);
  const size = metadata.readUInt16LE(fields);
  /** Where a field is, 0 if it has its default value. */
  const field = (number: number): number => {
    const entry = 4 + 2 * number;
    const offset = entry < size ? metadata.readUInt16LE(fields + entry) : 0;
    return offset === 0 ? 0 : table + offset;
  };
  const type = field(HEADER_TYPE);
  const bodyLength = field(BODY_LENGTH);
  return {
    type: type === 0 ? 0 : metadata.readUInt8(type),
    bodyBytes: bodyLength === 0 ? 0 : Number(metadata.readBigInt64LE(bodyLength)),
  };
}

/** Reads a result into one buffer that grows with the largest message: a new one for each is garbage of hundreds of megabytes. */
class Input {
  buffer = Buffer.allocUnsafe(65_536);
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkBytes = 0;

  constructor(result: AsyncIterable<Buffer>) {
    this.#chunks = result[Symbol.asyncIterator]();
  }

  /** Reads this number of bytes behind the first `start` of the buffer, and says where they end. */
  async read(start: number, bytes: number): Promise<number> {
    const end = start + bytes;
    this.#grow(end + END.length, start);
    for (let at = start; at < end; ) {
      if (this.#chunk.length === 0 && !(await this.#next()))
        throw new ExportQueryError('ClickHouse broke off a result before its end; run the command again');
      const copied = this.#chunk.copy(this.buffer, at, 0, end - at);
      this.#chunk = this.#chunk.subarray(copied);
      at += copied;
    }
    return end;
  }

  /** The first bytes of the buffer as a complete stream. */
  stream(bytes: number): Buffer {
    END.copy(this.buffer, bytes);
    return this.buffer.subarray(0, bytes + END.length);
  }

  /** What has been read since `start`, and what follows, as text. */
  async text(start: number, read: number): Promise<string> {
    const parts = [Buffer.from(this.buffer.subarray(start, start + read)), this.#chunk];
    let bytes = read + this.#chunk.length;
    while (bytes < FAILURE_BYTES && (await this.#next())) {
      parts.push(this.#chunk);
      bytes += this.#chunk.length;
    }
    return Buffer.concat(parts).toString('utf8');
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    countChunk(this.#chunkBytes);
    if (done) return false;
    this.#chunk = value;
    this.#chunkBytes = value.length;
    return true;
  }

  #grow(bytes: number, kept: number): void {
    if (bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.ceil(bytes * 1.1));
    this.buffer.copy(larger, 0, 0, kept);
    this.buffer = larger;
  }
}
