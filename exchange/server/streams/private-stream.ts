import { streamAuthSchema } from '../../../client/wire/index.js';
import type { Clock } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import type { Authenticator, KeyHolder } from '../auth/index.js';
import { HttpError, StreamRequestError } from '../errors.js';
import type { FaultStream, Faults } from '../faults.js';
import type { WireEncoder } from '../wire-encoder.js';
import { sendDelta } from './send-delta.js';
import type { StreamEndpoint } from './stream-server.js';
import type { StreamSocket } from './stream-socket.js';

/** A connection without a valid AUTH is closed after this time. */
const AUTH_TIMEOUT_MS = 30_000;
const POLICY_VIOLATION = 1008;

export interface PrivateStreamOptions {
  readonly core: Pick<ExchangeCore, 'on' | 'account' | 'usdcId'>;
  readonly authenticator: Authenticator;
  readonly faults: Faults;
  readonly encoder: WireEncoder;
  readonly clock: Clock;
  /** Default 30 s. */
  readonly authTimeoutMs?: number | undefined;
}

/**
 * A stream of one account's events: no messages before AUTH (part 5.5), afterwards those of that account. A failed AUTH
 * may be retried; another AUTH after a successful one is rejected and has no effect.
 */
export abstract class PrivateStream implements StreamEndpoint {
  abstract readonly path: string;
  abstract readonly stream: FaultStream;
  #waiting = new Map<StreamSocket, NodeJS.Timeout>();
  #holders = new Map<StreamSocket, KeyHolder>();
  #socketsOf = new Map<string, Set<StreamSocket>>();
  #unsubscribe: (() => void) | undefined;

  constructor(protected readonly options: PrivateStreamOptions) {}

  /** The `d` of the response to a successful AUTH. */
  protected abstract authResponse(userId: string): unknown;
  /** Subscribes to the core's events; returns a function that unsubscribes. */
  protected abstract subscribe(): () => void;

  onOpen(socket: StreamSocket): void {
    const { authTimeoutMs = AUTH_TIMEOUT_MS } = this.options;
    this.#waiting.set(
      socket,
      setTimeout(() => this.#end(socket, 'no valid AUTH in time'), authTimeoutMs),
    );
  }

  onMessage(socket: StreamSocket, message: unknown): undefined {
    const type = typeof message === 'object' && message !== null ? (message as { t?: unknown }).t : undefined;
    if (type !== 'AUTH') throw new StreamRequestError('the only message accepted here is AUTH');
    if (this.#holders.has(socket)) throw new StreamRequestError('this connection is authorized already');
    const parsed = streamAuthSchema.safeParse(message);
    if (!parsed.success) throw new StreamRequestError('AUTH requires d.apiKey, d.signature and d.timestamp, all texts');
    const { apiKey: key, signature, timestamp } = parsed.data.d;
    this.#authorize(socket, this.#authenticate({ key, signature, timestamp }));
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
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  isSubscribed(): boolean {
    return false;
  }

  errorFrame(text: string): Buffer {
    return this.frame({ t: 'error', d: { error: text } });
  }

  /** Closes an account's connections: the key that opened them is no longer valid. */
  endSessions(userId: string): void {
    for (const socket of this.#socketsOf.get(userId) ?? []) this.#end(socket, 'the API key is no longer active');
  }

  /** Sends a message to every connection of an account. @param eventId its event, for faults */
  protected publish(userId: string, makeMessage: () => object, eventId?: string): void {
    const sockets = this.#socketsOf.get(userId);
    if (!sockets) return;
    const { faults, clock } = this.options;
    for (const socket of [...sockets]) {
      const expiresAt = this.#holders.get(socket)?.expiresAt ?? null;
      if (expiresAt !== null && clock.nowMicros() >= expiresAt) this.#end(socket, 'the API key has expired');
    }
    const valid = this.#socketsOf.get(userId);
    if (valid) sendDelta({ stream: this.stream, eventId, frame: this.frame(makeMessage()) }, valid, faults);
  }

  protected frame(message: object): Buffer {
    return Buffer.from(this.options.encoder.encode(message));
  }

  #authenticate(claim: Parameters<Authenticator['authenticateStream']>[1]): KeyHolder {
    try {
      return this.options.authenticator.authenticateStream(this.path, claim);
    } catch (error) {
      if (error instanceof HttpError) throw new StreamRequestError(error.message);
      throw error;
    }
  }

  #authorize(socket: StreamSocket, holder: KeyHolder): void {
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
    this.#holders.set(socket, holder);
    const sockets = this.#socketsOf.get(holder.userId) ?? new Set();
    this.#socketsOf.set(holder.userId, sockets.add(socket));
    this.#unsubscribe ??= this.subscribe();
    socket.send(this.frame({ t: 'success', d: this.authResponse(holder.userId), r: null }));
  }

  #end(socket: StreamSocket, text: string): void {
    socket.send(this.errorFrame(text));
    socket.close(POLICY_VIOLATION, text);
    this.onClose(socket);
  }
}
