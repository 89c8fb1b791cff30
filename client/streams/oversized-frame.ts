import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../../core/index.js';
import { FrameHeaderReader, type LargeFrame } from './frame-header-reader.js';

/** A frame above the maximum size. */
export interface OversizedFrame extends LargeFrame {
  /** When its size was known, Unix microseconds. */
  readonly receivedAtMicros: number;
}

/** Maximum time to wait for the first bytes of an oversized frame, milliseconds. */
const FIRST_BYTES_TIMEOUT_MS = 500;

/** Errors of `ws` for a message above the maximum size. */
const OVERSIZED_CODES: readonly unknown[] = [
  'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
  'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH',
];

/** Whether `ws` has refused a message above the maximum size. */
export const isOversized = (error: Error | undefined): boolean =>
  OVERSIZED_CODES.includes((error as NodeJS.ErrnoException | undefined)?.code);

/** Reads the frame headers of a connection, for the length and the first bytes of an oversized frame. */
export class OversizedFrameWatch {
  readonly #headers: FrameHeaderReader;
  #knownAtMicros: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onData = (chunk: Buffer) => {
    this.#headers.push(chunk);
    if (this.#knownAtMicros !== undefined && this.#headers.complete) this.socket.terminate();
  };

  constructor(
    private readonly socket: WebSocket,
    private readonly wire: Socket,
    private readonly options: { readonly clock: Clock; readonly maxFrameBytes: number },
  ) {
    this.#headers = new FrameHeaderReader(options.maxFrameBytes);
    wire.on('data', this.#onData);
  }

  /** Call when `ws` has refused a frame: terminates the socket when the first bytes are there, or after a timeout. */
  wait(): void {
    this.#knownAtMicros ??= this.options.clock.nowMicros();
    if (this.#headers.complete) this.socket.terminate();
    else this.#timer ??= setTimeout(() => this.socket.terminate(), FIRST_BYTES_TIMEOUT_MS);
  }

  /** Call when the socket is closed; returns the frame that `ws` refused. */
  end(): OversizedFrame | undefined {
    clearTimeout(this.#timer);
    this.wire.removeListener('data', this.#onData);
    if (this.#knownAtMicros === undefined) return undefined;
    return { ...this.#headers.largeFrame, receivedAtMicros: this.#knownAtMicros };
  }
}
