import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { ProxiedPort } from './properties.js';

/** What the proxy does with a request: forward it, close the connection before or after the broker executed it, drop the response. */
export type ProxyFault = 'pass' | 'cut before' | 'cut after' | 'drop response';

/** Keys of the requests that tests are interested in. */
export const API = {
  produce: 0,
  fetch: 1,
  metadata: 3,
  offsetCommit: 8,
  joinGroup: 11,
  heartbeat: 12,
  syncGroup: 14,
} as const;

/** A proxy between clients and a broker. */
export class KafkaProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Chooses the fault of a request by its API key. */
  faultFor: (key: number) => ProxyFault = () => 'pass';
  #frozen: Promise<void> | undefined;
  #thaw: () => void = () => undefined;

  private constructor(
    server: Server,
    private readonly target: number,
  ) {
    this.#server = server;
    server.on('connection', (client) => this.#join(client));
  }

  static async listen({ port, target }: ProxiedPort): Promise<KafkaProxy> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new KafkaProxy(server, target);
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Forwards nothing in either direction until `thaw`; connections stay open. */
  freeze(): void {
    this.#frozen ??= new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#frozen = undefined;
    this.#thaw();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    const broker = connect(this.target, '127.0.0.1');
    const faults = new Map<number, ProxyFault>();
    const end = () => {
      client.destroy();
      broker.destroy();
    };
    for (const socket of [client, broker]) {
      this.#sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    void this.#forward(client, (frame) => {
      const fault = this.faultFor(frame.readInt16BE(4));
      if (fault === 'cut before') return end();
      faults.set(frame.readInt32BE(8), fault);
      broker.write(frame);
    });
    void this.#forward(broker, (frame) => {
      const id = frame.readInt32BE(4);
      const fault = faults.get(id);
      faults.delete(id);
      if (fault === 'cut after') return end();
      if (fault !== 'drop response') client.write(frame);
    });
  }

  async #forward(from: Socket, each: (frame: Buffer) => void): Promise<void> {
    let pending: Buffer = Buffer.alloc(0);
    try {
      for await (const chunk of from) {
        pending = Buffer.concat([pending, chunk as Buffer]);
        for (;;) {
          const size = pending.length >= 4 ? 4 + pending.readInt32BE(0) : Infinity;
          if (pending.length < size) break;
          const frame = pending.subarray(0, size);
          pending = pending.subarray(size);
          await this.#frozen;
          each(frame);
        }
      }
    } catch {
      // The connection has ended; both sides notice it on their sockets.
    }
  }
}
