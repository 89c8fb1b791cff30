import { BoundedQueue, encodeBody } from '../../core/index.js';
import type {
  ConnectedEvent,
  ConnectFailedEvent,
  ConnectionHandlers,
  DisconnectedEvent,
  RawFrame,
  StreamConnection,
} from './connection.js';

/** A frame as it arrived, and as the body of a raw record (see `encodeBody`). */
export interface StreamFrame extends RawFrame {
  /** The exact text when it is valid JSON and was parsed, else a JSON string of it. */
  readonly bodyJson: string;
  /** How `bodyJson` stands for a frame that is not valid JSON, or holds more than is parsed. */
  readonly encoding?: 'text' | 'base64';
  /** The parsed body; undefined when there is none. */
  readonly parsed?: unknown;
}

/** Called synchronously, in the order in which things happen; `onFrame` before the frame's `onMessage`. */
export interface StreamHandlers<M> {
  /** Every frame, also one that cannot be understood. */
  readonly onFrame?: ((frame: StreamFrame) => void) | undefined;
  readonly onMessage?: ((message: M, frame: StreamFrame) => void) | undefined;
  readonly onConnected?: ((event: ConnectedEvent) => void) | undefined;
  readonly onDisconnected?: ((event: DisconnectedEvent) => void) | undefined;
  readonly onConnectFailed?: ((event: ConnectFailedEvent) => void) | undefined;
}

/** What a reader of a stream gets, in order: messages, and where the stream was interrupted. */
export type StreamEvent<M> =
  | { readonly type: 'message'; readonly message: M; readonly frame: StreamFrame }
  | ({ readonly type: 'connected' } & ConnectedEvent)
  | ({ readonly type: 'disconnected' } & DisconnectedEvent);

/** What a message that could not be understood as a whole looks like on every stream. */
export interface InvalidMessage {
  readonly type: 'invalid';
  readonly ok: false;
  readonly path: string;
  readonly reason: string;
}

type Event<M> = StreamEvent<M | InvalidMessage>;

export interface MessageDispatcherOptions<M> extends StreamHandlers<M> {
  /** Reads a frame that is JSON, parsed and as its text. */
  readonly decode: (body: unknown, text: string) => M;
  /** Whether a message carries data: it proves that the connection is good. */
  readonly isData: (message: M) => boolean;
  /** What the stream itself does with messages and connections, before readers see them. */
  readonly inner: Pick<StreamHandlers<M>, 'onMessage' | 'onConnected' | 'onDisconnected'> & { onClosed?: () => void };
  /** Events that wait for a slow reader before the socket is paused. */
  readonly queueCapacity: number;
}

/** Turns the frames of a connection into messages for handlers and for readers. */
export class MessageDispatcher<M> implements ConnectionHandlers {
  readonly #readers = new Set<BoundedQueue<Event<M>>>();
  #connection: Pick<StreamConnection, 'resetBackoff' | 'pause' | 'resume'> | undefined;
  #closed = false;

  constructor(private readonly options: MessageDispatcherOptions<M | InvalidMessage>) {}

  /** The connection that the frames come from: paused while a reader is behind. */
  attach(connection: Pick<StreamConnection, 'resetBackoff' | 'pause' | 'resume'>): void {
    this.#connection = connection;
  }

  onFrame(raw: RawFrame): void {
    const { bodyJson, encoding: enc, parsed, excess } = encodeBody(raw.data);
    const frame: StreamFrame = { ...raw, bodyJson, parsed, ...(enc ? { encoding: enc } : {}) };
    this.options.onFrame?.(frame);
    const message = enc === undefined ? this.options.decode(parsed, bodyJson) : notParsed(excess ?? REASONS[enc]);
    if (this.options.isData(message)) this.#connection?.resetBackoff();
    this.options.inner.onMessage?.(message, frame);
    this.options.onMessage?.(message, frame);
    if (this.#readers.size > 0) this.#publish({ type: 'message', message, frame });
  }

  onConnected(event: ConnectedEvent): void {
    this.options.inner.onConnected?.(event);
    this.options.onConnected?.(event);
    this.#publish({ type: 'connected', ...event });
  }

  onDisconnected(event: DisconnectedEvent): void {
    this.options.inner.onDisconnected?.(event);
    this.options.onDisconnected?.(event);
    this.#publish({ type: 'disconnected', ...event });
  }

  onConnectFailed(event: ConnectFailedEvent): void {
    this.options.onConnectFailed?.(event);
  }

  /** A reader of everything from now on. It ends when the feed is closed or the reader returns. */
  read(): AsyncIterableIterator<Event<M>> {
    const queue = new BoundedQueue<Event<M>>(this.options.queueCapacity);
    if (this.#closed) queue.close();
    else this.#readers.add(queue);
    const waiting: Event<M>[] = [];
    let taking: Promise<unknown> = Promise.resolve();
    const next = async (): Promise<IteratorResult<Event<M>>> => {
      if (waiting.length === 0) waiting.push(...(await queue.take(256)).reverse());
      const value = waiting.pop();
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    };
    return {
      // One after the other, as the queue has one consumer; an async generator could not be ended while it waits.
      next: () => {
        const result = taking.then(next);
        taking = result;
        return result;
      },
      return: async () => {
        waiting.length = 0;
        this.#end(queue);
        await queue.take(Number.POSITIVE_INFINITY);
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Ends all readers, after what they have not read yet. */
  onClosed(): void {
    this.options.inner.onClosed?.();
    this.#closed = true;
    for (const queue of this.#readers) this.#end(queue);
  }

  #end(queue: BoundedQueue<Event<M>>): void {
    queue.close();
    this.#readers.delete(queue);
    this.#connection?.resume(queue);
  }

  #publish(event: Event<M>): void {
    for (const queue of this.#readers) {
      if (queue.push(event)) continue;
      this.#connection?.pause(queue);
      void queue.whenRoom().then(() => this.#connection?.resume(queue));
    }
  }
}

const REASONS = { text: 'is not JSON', base64: 'is neither JSON nor UTF-8 text' };

const notParsed = (reason: string): InvalidMessage => ({ type: 'invalid', ok: false, path: '', reason });
