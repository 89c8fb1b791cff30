import type { ServerResponse } from 'node:http';
import { onceClosed } from './closed-response.js';

/** Smaller answers are sent while large ones wait: these may leave so much of the total to them. */
const SMALL_BYTES = 256 * 1024;
const RESERVED_FOR_SMALL = 1 / 4;

/** The bytes of answers that clients have not read yet: bounded for each client in time, and for all of them together. */
export class UnreadAnswers {
  /** Number of clients that have not read it yet, of each body: equal answers are one body. */
  readonly #clients = new Map<Buffer, number>();
  #bytes = 0;

  /**
   * @param maxBytes of all clients
   * @param maxClientBytes a client with more unread is disconnected
   * @param withinMs the time that it has to read
   */
  constructor(
    private readonly maxBytes: number,
    private readonly maxClientBytes: number,
    private readonly withinMs: number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts an answer until the client has read it. Returns false, and counts nothing, where there is no capacity for it. */
  add(response: ServerResponse, body: Buffer): boolean {
    const clients = this.#clients.get(body) ?? 0;
    const limit = body.length > SMALL_BYTES ? this.maxBytes * (1 - RESERVED_FOR_SMALL) : this.maxBytes;
    if (clients === 0 && this.#bytes > 0 && this.#bytes + body.length > limit) return false;
    this.#clients.set(body, clients + 1);
    if (clients === 0) this.#bytes += body.length;
    const timer =
      body.length > this.maxClientBytes ? setTimeout(() => this.#check(response), this.withinMs) : undefined;
    onceClosed(response, () => {
      clearTimeout(timer);
      this.#remove(body);
    });
    return true;
  }

  /** Disconnects a client that reads a stream too slowly: less than it may leave unread, in the time that it has to read. */
  follow(response: ServerResponse): void {
    let before = readFrom(response);
    const timer = setInterval(() => {
      const read = readFrom(response);
      if (isBlocked(response) && read - before < this.maxClientBytes) response.req.socket.destroy();
      before = read;
    }, this.withinMs);
    onceClosed(response, () => clearInterval(timer));
  }

  #remove(body: Buffer): void {
    const clients = (this.#clients.get(body) ?? 0) - 1;
    if (clients > 0) {
      this.#clients.set(body, clients);
      return;
    }
    this.#clients.delete(body);
    this.#bytes -= body.length;
  }

  #check(response: ServerResponse): void {
    const { socket } = response.req;
    if (response.writableLength > this.maxClientBytes || socket.writableLength > this.maxClientBytes) socket.destroy();
  }
}

/** Bytes that the system has taken from us for the client. */
const readFrom = ({ req: { socket } }: ServerResponse): number => socket.bytesWritten - socket.writableLength;

const isBlocked = (response: ServerResponse): boolean =>
  response.writableNeedDrain || response.req.socket.writableNeedDrain;
