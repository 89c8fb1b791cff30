import type { RawData, WebSocket } from 'ws';
import type { FaultRequest, FaultStream, Faults } from '../faults.js';
import type { ExchangeMetrics } from '../metrics.js';

interface StreamSocketOptions {
  readonly stream: FaultStream;
  /** Whether the client is one of the exchange's bots. */
  readonly isBot: boolean;
  readonly faults: Faults;
  readonly metrics: ExchangeMetrics;
  /** Maximum unsent bytes; a connection with more is dropped when the next frame is sent. */
  readonly maxBufferedBytes: number;
}

/** Added to a frame by the fault `oversized-frame`: more than clients usually accept. */
const OVERSIZED_BYTES = 16 * 1024 * 1024;

/** One connection of a stream: sends frames in order, with bounded buffering and the armed faults; reads in order. */
export class StreamSocket {
  readonly #frames;
  #inbox: { data: Buffer; binary: boolean }[] = [];
  #busy = false;
  #frozenUntilMs = 0;
  #frozenEvents = new Map<string, number>();
  /** Deltas that are sent after the next one of their event. */
  #heldBack = new Map<string | undefined, Buffer[]>();

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

  get isBot(): boolean {
    return this.options.isBot;
  }

  /** Unsent bytes. */
  get bufferedBytes(): number {
    return this.ws.bufferedAmount;
  }

  /**
   * Calls `handle` with one message after another; while its promise is pending, no more is read from the connection.
   * `handle` must not throw or reject.
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

  /** Sends a text frame. @param eventId its event, for faults */
  send(frame: Buffer, eventId?: string): void {
    if (!this.open || this.#isFrozen(eventId)) return;
    if (this.options.faults.any && this.#applyFaults(frame, eventId)) return;
    if (!this.#hasCapacity()) return;
    this.#frames.inc();
    this.ws.send(frame, { binary: false });
  }

  /** Sends a delta later: with `sendHeldBack`. */
  holdBack(frame: Buffer, eventId: string | undefined): void {
    this.#heldBack.set(eventId, [...(this.#heldBack.get(eventId) ?? []), frame]);
  }

  /** Sends the held back deltas of an event. */
  sendHeldBack(eventId: string | undefined): void {
    const frames = this.#heldBack.get(eventId);
    if (!frames) return;
    this.#heldBack.delete(eventId);
    for (const frame of frames) this.send(frame, eventId);
  }

  /** Stops sending, or sending about the event, while the connection stays open. */
  freeze({ ms, eventId, connection }: Pick<FaultRequest, 'ms' | 'eventId' | 'connection'>): void {
    const until = ms === undefined ? Number.POSITIVE_INFINITY : performance.now() + ms;
    if (eventId === undefined || connection) this.#frozenUntilMs = until;
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

  /** Applies armed faults; true when the frame must not be sent. */
  #applyFaults(frame: Buffer, eventId: string | undefined): boolean {
    const { faults, stream, isBot } = this.options;
    const scope = { stream, eventId, isBot };
    if (faults.take('drop-connection', scope)) {
      this.drop();
      return true;
    }
    const freeze = faults.take('freeze', scope);
    if (freeze) {
      this.freeze(freeze);
      return true;
    }
    // Half of the frame, then the frame itself: the malformed one is additional, so that no data is lost.
    if (faults.take('malformed-frame', scope)) {
      this.ws.send(frame.subarray(0, Math.ceil(frame.length / 2)), { binary: false });
    }
    if (faults.take('oversized-frame', scope)) {
      this.ws.send(Buffer.concat([frame, Buffer.alloc(OVERSIZED_BYTES, ' ')]), { binary: false });
      return true;
    }
    return false;
  }
}
