import type { ServerResponse } from 'node:http';

/** The bytes of answers that clients have not read yet: bounded for each client in time, and for all of them together. */
export class UnreadAnswers {
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

  /** Counts an answer until the client has read it. Returns false, and counts nothing, where there is no room for it. */
  add(response: ServerResponse, bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.maxBytes) return false;
    this.#bytes += bytes;
    const { socket } = response;
    const timer = bytes > this.maxClientBytes ? setTimeout(() => this.#check(response), this.withinMs) : undefined;
    const done = () => {
      clearTimeout(timer);
      this.#bytes -= bytes;
    };
    if (socket?.destroyed) done();
    else response.once('close', done);
    return true;
  }

  #check(response: ServerResponse): void {
    if (response.writableLength > this.maxClientBytes || (response.socket?.writableLength ?? 0) > this.maxClientBytes)
      response.destroy();
  }
}
