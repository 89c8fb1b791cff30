import { streamAuthSchema } from '../../../client/wire/index.js';
import type { Clock } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import type { Authenticator, KeyHolder } from '../auth/index.js';
import { HttpError, StreamRequestError } from '../errors.js';
import type { FaultStream, Faults } from '../faults.js';
import type { WireEncoder } from '../wire-encoder.js';
import type { StreamEndpoint } from './stream-server.js';
import type { StreamSocket } from './stream-socket.js';

/** A connection that has not said who it is by then is closed. */
const AUTH_WITHIN_MS = 30_000;
const POLICY_VIOLATION = 1008;

export interface PrivateStreamOptions {
  readonly core: Pick<ExchangeCore, 'on' | 'account' | 'usdcId'>;
  readonly authenticator: Authenticator;
  readonly faults: Faults;
  readonly encoder: WireEncoder;
  readonly clock: Clock;
  /** Default 30 s. */
  readonly authWithinMs?: number | undefined;
}

/**
 * A stream of one account's own news: nothing before AUTH (part 5.5), and after it what concerns that account alone. A
 * failed AUTH may be tried again; a second one after a good one is refused and changes nothing.
 */
export abstract class PrivateStream implements StreamEndpoint {
  abstract readonly path: string;
  abstract readonly stream: FaultStream;
  #waiting = new Map<StreamSocket, NodeJS.Timeout>();
  #holders = new Map<StreamSocket, KeyHolder>();
  #socketsOf = new Map<string, Set<StreamSocket>>();
  #unfollow: (() => void) | undefined;

  constructor(protected readonly options: PrivateStreamOptions) {}

  /** The `d` of the answer to a good AUTH. */
  protected abstract greeting(userId: string): unknown;
  /** Begins to hear the core's news; answers how to stop. */
  protected abstract follow(): () => void;

  onOpen(socket: StreamSocket): void {
    const { authWithinMs = AUTH_WITHIN_MS } = this.options;
    this.#waiting.set(
      socket,
      setTimeout(() => this.#end(socket, 'no AUTH came in time'), authWithinMs),
    );
  }

  onMessage(socket: StreamSocket, message: unknown): undefined {
    const type = typeof message === 'object' && message !== null ? (message as { t?: unknown }).t : undefined;
    if (type !== 'AUTH') throw new StreamRequestError('the only message that is read here is AUTH');
    if (this.#holders.has(socket)) throw new StreamRequestError('this connection is authorized already');
    const parsed = streamAuthSchema.safeParse(message);
    if (!parsed.success) throw new StreamRequestError('AUTH needs d.apiKey, d.signature and d.timestamp, all texts');
    const { apiKey: key, signature, timestamp } = parsed.data.d;
    this.#enter(socket, this.#admit({ key, signature, timestamp }));
  }

  onClose(socket: StreamSocket): void {
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
    const holder = this.#holders.get(socket);
    if (!holder) return;
    this.#holders.delete(socket);
    const sockets = this.#socketsOf.get(holder.userId);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#socketsOf.delete(holder.userId);
    if (this.#holders.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  watches(): boolean {
    return false;
  }

  errorFrame(text: string): Buffer {
    return this.frame({ t: 'error', d: { error: text } });
  }

  /** Closes an account's connections: the key that opened them is no longer good. */
  endSessions(userId: string): void {
    for (const socket of this.#socketsOf.get(userId) ?? []) this.#end(socket, 'the API key is no longer active');
  }

  /** Sends a message to every connection of an account. @param eventId the event that it is about, for faults */
  protected publish(userId: string, makeMessage: () => object, eventId?: string): void {
    const sockets = this.#socketsOf.get(userId);
    if (!sockets) return;
    const { faults, clock } = this.options;
    const scope = { stream: this.stream, eventId };
    if (faults.any && faults.take('skip-delta', scope)) return;
    const frame = this.frame(makeMessage());
    const times = faults.any && faults.take('duplicate-delta', scope) ? 2 : 1;
    for (const socket of [...sockets]) {
      const expiresAt = this.#holders.get(socket)?.expiresAt ?? null;
      if (expiresAt !== null && clock.nowMicros() >= expiresAt) this.#end(socket, 'the API key has expired');
      else for (let n = 0; n < times; n++) socket.send(frame, eventId);
    }
  }

  protected frame(message: object): Buffer {
    return Buffer.from(this.options.encoder.encode(message));
  }

  #admit(claim: Parameters<Authenticator['admitStream']>[1]): KeyHolder {
    try {
      return this.options.authenticator.admitStream(this.path, claim);
    } catch (error) {
      if (error instanceof HttpError) throw new StreamRequestError(error.message);
      throw error;
    }
  }

  #enter(socket: StreamSocket, holder: KeyHolder): void {
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
    this.#holders.set(socket, holder);
    const sockets = this.#socketsOf.get(holder.userId) ?? new Set();
    this.#socketsOf.set(holder.userId, sockets.add(socket));
    this.#unfollow ??= this.follow();
    socket.send(this.frame({ t: 'success', d: this.greeting(holder.userId), r: null }));
  }

  #end(socket: StreamSocket, text: string): void {
    socket.send(this.errorFrame(text));
    socket.close(POLICY_VIOLATION, text);
    this.onClose(socket);
  }
}
