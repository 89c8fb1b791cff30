import type { RawData, WebSocket } from 'ws';
import type { FaultStream, Faults } from '../faults.js';
import type { ExchangeMetrics } from '../metrics.js';

interface StreamSocketOptions {
  readonly stream: FaultStream;
  readonly faults: Faults;
  readonly metrics: ExchangeMetrics;
  /** Bytes that may wait to be sent; a reader that is further behind when the next frame comes is disconnected. */
  readonly maxBufferedBytes: number;
}

/** One connection of a stream: sends frames in order, with bounded buffering and the armed faults; reads in order. */
export class StreamSocket {
  readonly #frames;
  #inbox: { data: Buffer; binary: boolean }[] = [];
  #busy = false;
  #frozenUntilMs = 0;
  #frozenEvents = new Map<string, number>();

  constructor(
    private readonly ws: WebSocket,
    private readonly options: StreamSocketOptions,
  ) {
    this.#frames = options.metrics.frames.labels(options.stream);
    ws.on('ping', (data) => {
      if (!this.#isFrozen(undefined) && this.#hasCapacity()) ws.pong(data);
    });
  }

  get open(): boolean {
    return this.ws.readyState === this.ws.OPEN;
  }

  /** Bytes that wait for the reader. */
  get bufferedBytes(): number {
    return this.ws.bufferedAmount;
  }

  /**
   * Hands the messages to `handle` one after another: while one is being answered (its promise is pending), no more is
   * read from the connection. `handle` must not throw or reject.
   */
  onMessage(handle: (data: Buffer, binary: boolean) => Promise<void> | undefined): void {
    const drain = () => {
      while (!this.#busy) {
        const next = this.#inbox.shift();
        if (!next) return;
        const answering = handle(next.data, next.binary);
        if (!answering) continue;
        this.#busy = true;
        this.ws.pause();
        void answering.finally(() => {
          this.#busy = false;
          this.ws.resume();
          drain();
        });
      }
    };
    this.ws.on('message', (data: RawData, binary) => {
      this.#inbox.push({ data: data as Buffer, binary });
      drain();
    });
  }

  onClose(listener: () => void): void {
    this.ws.on('close', listener);
  }

  /** Sends a text frame. @param eventId the event that it is about, for faults */
  send(frame: Buffer, eventId?: string): void {
    if (!this.open || this.#isFrozen(eventId)) return;
    if (this.options.faults.any && this.#strikes(frame, eventId)) return;
    if (!this.#hasCapacity()) return;
    this.#frames.inc();
    this.ws.send(frame, { binary: false });
  }

  /** From now on nothing is sent, or nothing about the event, while the connection stays open. */
  freeze(ms: number | undefined, eventId: string | undefined): void {
    const until = ms === undefined ? Number.POSITIVE_INFINITY : performance.now() + ms;
    if (eventId === undefined) this.#frozenUntilMs = until;
    else this.#frozenEvents.set(eventId, until);
  }

  /** Ends the connection without a closing handshake. */
  drop(): void {
    this.ws.terminate();
  }

  dropSlowReader(): void {
    this.options.metrics.slowReaders.labels(this.options.stream).inc();
    this.ws.terminate();
  }

  close(code: number, reason: string): void {
    this.ws.close(code, reason);
  }

  #hasCapacity(): boolean {
    if (this.ws.bufferedAmount <= this.options.maxBufferedBytes) return true;
    this.dropSlowReader();
    return false;
  }

  #isFrozen(eventId: string | undefined): boolean {
    if (this.#frozenUntilMs > 0) {
      if (performance.now() < this.#frozenUntilMs) return true;
      this.#frozenUntilMs = 0;
    }
    if (eventId === undefined || this.#frozenEvents.size === 0) return false;
    const until = this.#frozenEvents.get(eventId);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#frozenEvents.delete(eventId);
    return false;
  }

  /** True when an armed fault keeps the frame from being sent. */
  #strikes(frame: Buffer, eventId: string | undefined): boolean {
    const { faults, stream } = this.options;
    const scope = { stream, eventId };
    if (faults.take('drop-connection', scope)) {
      this.drop();
      return true;
    }
    const freeze = faults.take('freeze', scope);
    if (freeze) {
      this.freeze(freeze.ms, freeze.eventId);
      return true;
    }
    // Half of the frame first, then the frame itself: what is malformed is extra, so that nothing else goes missing.
    if (faults.take('malformed-frame', scope)) {
      this.ws.send(frame.subarray(0, Math.ceil(frame.length / 2)), { binary: false });
    }
    return false;
  }
}
