import type { Clock } from '../../core/index.js';
import type { ChanceMessage, MarketHistory } from '../decode/chance-stream.js';
import type { InvalidEntry } from '../decode/result.js';
import { StreamError, TransportError } from '../errors/index.js';
import type { ChanceClientMessageWire } from '../wire/index.js';
import type { StreamFrame } from './message-dispatcher.js';
import { after } from './timer.js';

/** The answer to HISTORY: the series as they came (the first point of each is the anchor), and the frame they came in. */
export interface StreamHistoryResult {
  readonly series: readonly MarketHistory[];
  /** The first 100 of what was not understood. */
  readonly invalidEntries: readonly InvalidEntry[];
  /** How many more were not understood. */
  readonly invalidEntriesOmitted: number;
  readonly frame: StreamFrame;
}

interface HistoryRequest {
  readonly message: ChanceClientMessageWire & { t: 'HISTORY' };
  readonly where: string;
  readonly resolve: (answer: StreamHistoryResult) => void;
  readonly reject: (error: unknown) => void;
  readonly settled: () => boolean;
  readonly cancelTimer: () => void;
}

export interface ChanceRequestsOptions {
  /** False when there is no open connection. */
  readonly send: (message: ChanceClientMessageWire) => boolean;
  /** Gives the open connection up. */
  readonly reconnect: (cause: string) => void;
  readonly clock: Clock;
  /** How long a confirmation of SUBSCRIBE or UNSUBSCRIBE is waited for, milliseconds. */
  readonly confirmTimeoutMs: number;
}

/**
 * What is asked on a chance stream's connection. Answers name no request, so a HISTORY travels alone: it is sent when
 * every subscription sent before has been confirmed, and nothing else is sent until its answer is there. An error that
 * comes meanwhile then is its answer. Where that cannot be known, the connection is given up rather than risk that an
 * answer is taken for that of another request.
 */
export class ChanceRequests {
  #subscriptions: ChanceClientMessageWire[] = [];
  #histories: HistoryRequest[] = [];
  #unconfirmed = 0;
  /** A confirmation never came: it, or an error in its place, may still come at any time. */
  #overdue = false;
  #inFlight: HistoryRequest | undefined;
  #cancelConfirm: () => void = () => undefined;
  #closed = false;

  constructor(private readonly options: ChanceRequestsOptions) {}

  /** Sends SUBSCRIBE or UNSUBSCRIBE as soon as no HISTORY is in flight. */
  subscription(message: ChanceClientMessageWire): void {
    this.#subscriptions.push(message);
    this.#pump();
  }

  /** Asks for history; waits for a connection and for its turn, all within the timeout. */
  history(
    message: ChanceClientMessageWire & { t: 'HISTORY' },
    where: string,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<StreamHistoryResult> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#closed) return Promise.reject(closedError(where));
    return new Promise((resolve, reject) => {
      let settled = false;
      const settle = <T>(how: (value: T) => void) => {
        return (value: T) => {
          settled = true;
          signal?.removeEventListener('abort', onAbort);
          how(value);
        };
      };
      const fail = settle(reject);
      const request: HistoryRequest = {
        message,
        where,
        resolve: settle(resolve),
        reject: fail,
        settled: () => settled,
        cancelTimer: after(this.options.clock, timeoutMs, () => this.#timedOut(request, timeoutMs)),
      };
      // One that is in flight keeps its place: its answer is still to come.
      const onAbort = () => {
        fail(signal?.reason);
        if (this.#inFlight !== request) this.#drop(request);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#histories.push(request);
      this.#pump();
    });
  }

  onMessage(message: ChanceMessage, frame: StreamFrame): void {
    if (message.type === 'history') this.#onHistory(message, frame);
    else if (message.type === 'success') this.#confirmed();
    else if (message.type === 'error') this.#onError(message.reason);
  }

  onConnected(): void {
    this.#pump();
  }

  /** Subscriptions are sent anew by the stream; history that was not sent yet waits for the next connection. */
  onDisconnected(cause: string): void {
    this.#subscriptions = [];
    this.#unconfirmed = 0;
    this.#overdue = false;
    this.#cancelConfirm();
    const lost = this.#takeInFlight();
    lost?.reject(new TransportError('broken-off', lost.where, { detail: cause }));
  }

  /** Rejects everything that waits. */
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

  /** Sends what may be sent now. Subscriptions go first: what they would bring meanwhile is lost, history is not. */
  #pump(): void {
    while (!this.#inFlight) {
      const message = this.#subscriptions[0];
      const request = this.#unconfirmed > 0 ? undefined : this.#histories[0];
      if (message) {
        if (!this.options.send(message)) return;
        this.#subscriptions.shift();
        this.#unconfirmed += 1;
        this.#cancelConfirm();
        this.#cancelConfirm = after(this.options.clock, this.options.confirmTimeoutMs, () => this.#unanswered());
      } else if (request && this.options.send(request.message)) {
        this.#histories.shift();
        this.#inFlight = request;
      } else return;
    }
  }

  #confirmed(): void {
    if (this.#unconfirmed > 0) this.#unconfirmed -= 1;
    if (this.#unconfirmed === 0) this.#cancelConfirm();
    this.#pump();
  }

  #unanswered(): void {
    this.#unconfirmed = 0;
    this.#overdue = true;
    this.#pump();
  }

  #onError(reason: string): void {
    if (!this.#inFlight) {
      this.#confirmed();
      return;
    }
    const { where } = this.#inFlight;
    if (this.#overdue) {
      this.options.reconnect(`it is not known which request the error ${JSON.stringify(reason.slice(0, 100))} answers`);
      return;
    }
    this.#takeInFlight()?.reject(new StreamError(where, reason));
    this.#pump();
  }

  #onHistory(message: ChanceMessage & { type: 'history' }, frame: StreamFrame): void {
    const asked = this.#inFlight?.message;
    if (!asked) return;
    const ours = message.series.every((series) => asked.o.includes(series.marketId));
    if (!ours || (message.eventId !== null && message.eventId !== asked.e)) return;
    this.#takeInFlight()?.resolve({
      series: message.series,
      invalidEntries: message.invalidEntries,
      invalidEntriesOmitted: message.invalidEntriesOmitted,
      frame,
    });
    this.#pump();
  }

  #timedOut(request: HistoryRequest, timeoutMs: number): void {
    if (!request.settled()) {
      request.reject(new TransportError('timeout', request.where, { detail: `${timeoutMs} ms` }));
    }
    if (this.#inFlight === request) {
      this.#takeInFlight();
      this.options.reconnect('a HISTORY was not answered in time');
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
