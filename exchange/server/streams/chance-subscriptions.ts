import type { StreamSocket } from './stream-socket.js';

/** The subscribers of each market's chance. */
export class ChanceSubscriptions {
  #sockets = new Map<string, Set<StreamSocket>>();
  #markets = new Map<StreamSocket, Map<string, string>>();

  /** The subscribers of a market; undefined when there are none. */
  of(marketId: string): ReadonlySet<StreamSocket> | undefined {
    return this.#sockets.get(marketId);
  }

  add(socket: StreamSocket, eventId: string, marketId: string): void {
    const sockets = this.#sockets.get(marketId) ?? new Set();
    this.#sockets.set(marketId, sockets.add(socket));
    const markets = this.#markets.get(socket) ?? new Map<string, string>();
    this.#markets.set(socket, markets.set(marketId, eventId));
  }

  remove(socket: StreamSocket, marketId: string): void {
    this.#markets.get(socket)?.delete(marketId);
    const sockets = this.#sockets.get(marketId);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#sockets.delete(marketId);
  }

  removeSocket(socket: StreamSocket): void {
    for (const marketId of this.#markets.get(socket)?.keys() ?? []) this.remove(socket, marketId);
    this.#markets.delete(socket);
  }

  isSubscribed(socket: StreamSocket, eventId: string): boolean {
    return [...(this.#markets.get(socket)?.values() ?? [])].includes(eventId);
  }
}
