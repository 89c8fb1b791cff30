import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A client socket that stores what it receives, in order. */
export class TestSocket {
  /** Every received text frame that `next` has not taken yet. */
  readonly waiting: string[] = [];
  /** Close code, once closed. */
  closed: number | undefined;
  #wake: (() => void) | undefined;

  private constructor(readonly ws: WebSocket) {
    ws.on('message', (data) => {
      this.waiting.push(String(data));
      this.#wake?.();
    });
    ws.on('close', (code) => {
      this.closed = code;
      this.#wake?.();
    });
    ws.on('error', () => undefined);
  }

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<TestSocket> {
    const ws = new WebSocket(url, { perMessageDeflate: false, headers });
    const socket = new TestSocket(ws);
    await once(ws, 'open');
    return socket;
  }

  send(message: unknown): void {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next frame's text. */
  async nextText(): Promise<string> {
    for (;;) {
      const text = this.waiting.shift();
      if (text !== undefined) return text;
      if (this.closed !== undefined) throw new Error(`the socket was closed with ${this.closed}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next frame, parsed; with a type, the next one of that type (others are left out). */
  // biome-ignore lint/suspicious/noExplicitAny: frames are looked into by hand, field by field
  async next(type?: string): Promise<any> {
    for (;;) {
      const message = JSON.parse(await this.nextText());
      if (type === undefined || message.t === type) return message;
    }
  }

  /** Sends and takes the next frame. */
  async ask(message: unknown) {
    this.send(message);
    return this.next();
  }

  /** Resolves with the close code. */
  async end(): Promise<number> {
    while (this.closed === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.closed;
  }
}
