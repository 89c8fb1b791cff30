import type { Clock } from '../../core/index.js';
import type { ChanceMessage, MarketHistory } from '../decode/chance-stream.js';
import type { InvalidEntry } from '../decode/result.js';
import { StreamError, TransportError } from '../errors/index.js';
import type { ChanceClientMessageWire } from '../wire/chance-stream.js';
import type { StreamFrame } from './message-dispatcher.js';
import { after } from './timer.js';

/** The response to HISTORY: the series as received (the first point of each is the anchor), and their frame. */
export interface StreamHistoryResult {
  readonly series: readonly MarketHistory[];
  /** The first 100 invalid entries. */
  readonly invalidEntries: readonly InvalidEntry[];
  /** Number of invalid entries beyond the first 100. */
  readonly invalidEntriesOmitted: number;
  readonly frame: StreamFrame;
}

interface HistoryRequest {
  readonly message: ChanceClientMessageWire & { t: 'HISTORY' };
  readonly where: string;
  readonly resolve: (answer: StreamHistoryResult) => void;
  readonly reject: (error: unknown) => void;
  readonly isDone: () => boolean;
  readonly cancelTimer: () => void;
}

export interface ChanceRequestsOptions {
  /** False when there is no open connection. */
  readonly send: (message: ChanceClientMessageWire) => boolean;
  /** Terminates the open connection and connects again. */
  readonly reconnect: (cause: string) => void;
  readonly clock: Clock;
  /** Maximum wait for the confirmation of SUBSCRIBE or UNSUBSCRIBE, milliseconds. */
  readonly confirmTimeoutMs: number;
}

/**
 * The requests on a chance stream's connection. Responses do not identify their request, so a HISTORY is sent alone: when
 * every earlier subscription has been confirmed, and nothing else is sent until its response is received, or it timed out.
 * An error that is received meanwhile is then its response. A response to a HISTORY that timed out may still be received: it
 * is told from others by its event. Where that is not certain, the stream reconnects rather than match a response to the
 * wrong request.
 */
export class ChanceRequests {
  #subscriptions: ChanceClientMessageWire[] = [];
  #histories: HistoryRequest[] = [];
  #unconfirmed = 0;
  /** A confirmation timed out: it, or an error in its place, may still be received at any time. */
  #overdue = false;
  #inFlight: HistoryRequest | undefined;
  /** Events of requests that timed out on the open connection, and whose response may still be received. */
  readonly #late = new Set<string>();
  #cancelConfirm: () => void = () => undefined;
  #closed = false;

  constructor(private readonly options: ChanceRequestsOptions) {}

  /** Sends SUBSCRIBE or UNSUBSCRIBE as soon as no HISTORY is in flight. */
  subscription(message: ChanceClientMessageWire): void {
    this.#subscriptions.push(message);
    this.#sendNext();
  }

  /** Requests history. The timeout includes the wait for a connection and for earlier requests. */
  history(
    message: ChanceClientMessageWire & { t: 'HISTORY' },
    where: string,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<StreamHistoryResult> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#closed) return Promise.reject(closedError(where));
    return new Promise((resolve, reject) => {
      let isDone = false;
      const finish = <T>(how: (value: T) => void) => {
        return (value: T) => {
          isDone = true;
          signal?.removeEventListener('abort', onAbort);
          how(value);
        };
      };
      const fail = finish(reject);
      const request: HistoryRequest = {
        message,
        where,
        resolve: finish(resolve),
        reject: fail,
        isDone: () => isDone,
        cancelTimer: after(this.options.clock, timeoutMs, () => this.#timedOut(request, timeoutMs)),
      };
      // A request in flight stays in flight: its response may still be received.
      const onAbort = () => {
        fail(signal?.reason);
        if (this.#inFlight !== request) this.#drop(request);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#histories.push(request);
      this.#sendNext();
    });
  }

  /** Whether a HISTORY of the event timed out, and its response may still be received. */
  isLate(eventId: string): boolean {
    return this.#late.has(eventId);
  }

  onMessage(message: ChanceMessage, frame: StreamFrame): void {
    if (message.type === 'history') this.#onHistory(message, frame);
    else if (message.type === 'success') this.#confirmed();
    else if (message.type === 'error') this.#onError(message.reason);
  }

  onConnected(): void {
    this.#sendNext();
  }

  /** The stream sends subscriptions again; a HISTORY that was not sent yet waits for the next connection. */
  onDisconnected(cause: string): void {
    this.#subscriptions = [];
    this.#unconfirmed = 0;
    this.#overdue = false;
    this.#late.clear();
    this.#cancelConfirm();
    const lost = this.#takeInFlight();
    lost?.reject(new TransportError('broken-off', lost.where, { detail: cause }));
  }

  /** Rejects all pending requests. */
  close(): void {
    this.#closed = true;
    this.#cancelConfirm();
    for (const request of [this.#takeInFlight(), ...this.#histories]) {
      request?.cancelTimer();
      request?.reject(closedError(request.where));
    }
    this.#subscriptions = [];
    this.#histories = [];
  }

  /** Sends all requests that may be sent now. Subscriptions first: their updates would be missed meanwhile, history would not. */
  #sendNext(): void {
    while (!this.#inFlight) {
      const message = this.#subscriptions[0];
      const request = this.#unconfirmed > 0 ? undefined : this.#histories[0];
      if (message) {
        if (!this.options.send(message)) return;
        this.#subscriptions.shift();
        this.#unconfirmed += 1;
        this.#cancelConfirm();
        this.#cancelConfirm = after(this.options.clock, this.options.confirmTimeoutMs, () => this.#unanswered());
      } else if (request && this.#late.has(request.message.e)) {
        // Sent on the next connection.
        this.#late.clear();
        this.options.reconnect('no response to HISTORY in time');
        return;
      } else if (request && this.options.send(request.message)) {
        this.#histories.shift();
        this.#inFlight = request;
      } else return;
    }
  }

  #confirmed(): void {
    if (this.#unconfirmed > 0) this.#unconfirmed -= 1;
    if (this.#unconfirmed === 0) this.#cancelConfirm();
    this.#sendNext();
  }

  #unanswered(): void {
    this.#unconfirmed = 0;
    this.#overdue = true;
    this.#sendNext();
  }

  #onError(reason: string): void {
    const isLate = this.#late.size > 0;
    if (!this.#inFlight && !isLate) {
      this.#confirmed();
      return;
    }
    if (!this.#inFlight || this.#overdue || isLate) {
      this.options.reconnect(
        `it is not known to which request the error ${JSON.stringify(reason.slice(0, 100))} belongs`,
      );
      return;
    }
    const request = this.#takeInFlight();
    request?.reject(new StreamError(request.where, reason));
    this.#sendNext();
  }

  #onHistory(message: ChanceMessage & { type: 'history' }, frame: StreamFrame): void {
    const request = this.#inFlight?.message;
    if (message.eventId !== null && this.#late.delete(message.eventId)) return;
    if (!request) return;
    const matches = message.series.every((series) => request.o.includes(series.marketId));
    if (!matches || (message.eventId !== null && message.eventId !== request.e)) return;
    if (message.eventId === null && message.series.length === 0 && this.#late.size > 0) {
      this.options.reconnect('it is not known to which HISTORY an empty response belongs');
      return;
    }
    this.#takeInFlight()?.resolve({
      series: message.series,
      invalidEntries: message.invalidEntries,
      invalidEntriesOmitted: message.invalidEntriesOmitted,
      frame,
    });
    this.#sendNext();
  }

  #timedOut(request: HistoryRequest, timeoutMs: number): void {
    if (!request.isDone()) {
      request.reject(new TransportError('timeout', request.where, { detail: `${timeoutMs} ms` }));
    }
    if (this.#inFlight === request) {
      this.#takeInFlight();
      this.#late.add(request.message.e);
      this.#sendNext();
    } else this.#drop(request);
  }

  #takeInFlight(): HistoryRequest | undefined {
    const request = this.#inFlight;
    this.#inFlight = undefined;
    request?.cancelTimer();
    return request;
  }

  #drop(request: HistoryRequest): void {
    request.cancelTimer();
    this.#histories = this.#histories.filter((waiting) => waiting !== request);
  }
}

const closedError = (where: string) => new TransportError('connection', where, { detail: 'the stream was closed' });
