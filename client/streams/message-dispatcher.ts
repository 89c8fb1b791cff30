import { BoundedQueue, encodeBody } from '../../core/index.js';
import type {
  ConnectedEvent,
  ConnectFailedEvent,
  ConnectionHandlers,
  DisconnectedEvent,
  RawFrame,
  StreamConnection,
} from './connection.js';

/** A frame as received, and as the body of a raw record (see `encodeBody`). */
export interface StreamFrame extends RawFrame {
  /** The exact text when it was parsed as JSON, else a JSON string of it. */
  readonly bodyJson: string;
  /** The encoding of `bodyJson` when the frame is not JSON or exceeds the limits of parsing. */
  readonly encoding?: 'text' | 'base64';
  /** The parsed body; undefined when it was not parsed. */
  readonly parsed?: unknown;
}

/** Called synchronously and in order; `onFrame` before the frame's `onMessage`. */
export interface StreamHandlers<M> {
  /** Every frame, also one that cannot be decoded. */
  readonly onFrame?: ((frame: StreamFrame) => void) | undefined;
  readonly onMessage?: ((message: M, frame: StreamFrame) => void) | undefined;
  readonly onConnected?: ((event: ConnectedEvent) => void) | undefined;
  readonly onDisconnected?: ((event: DisconnectedEvent) => void) | undefined;
  readonly onConnectFailed?: ((event: ConnectFailedEvent) => void) | undefined;
}

/** What a stream's iterator yields, in order: messages, connects and disconnects. */
export type StreamEvent<M> =
  | { readonly type: 'message'; readonly message: M; readonly frame: StreamFrame }
  | ({ readonly type: 'connected' } & ConnectedEvent)
  | ({ readonly type: 'disconnected' } & DisconnectedEvent);

/** A frame that could not be decoded. */
export interface InvalidMessage {
  readonly type: 'invalid';
  readonly ok: false;
  readonly path: string;
  readonly reason: string;
}

type Event<M> = StreamEvent<M | InvalidMessage>;

export interface MessageDispatcherOptions<M> extends StreamHandlers<M> {
  /** Decodes a frame that is JSON, from its parsed body or its text. */
  readonly decode: (body: unknown, text: string) => M;
  /** Whether a message contains data: the connection then resets the reconnect delay. */
  readonly isData: (message: M) => boolean;
  /** The stream's own handlers, called before those of its user. */
  readonly inner: Pick<StreamHandlers<M>, 'onMessage' | 'onConnected' | 'onDisconnected'> & { onClosed?: () => void };
  /** Number of events that may wait for a slow reader before the socket is paused. */
  readonly queueCapacity: number;
}

/** Decodes the frames of a connection and passes the messages to handlers and readers. */
export class MessageDispatcher<M> implements ConnectionHandlers {
  readonly #readers = new Set<BoundedQueue<Event<M>>>();
  #connection: Pick<StreamConnection, 'resetBackoff' | 'pause' | 'resume'> | undefined;
  #closed = false;

  constructor(private readonly options: MessageDispatcherOptions<M | InvalidMessage>) {}

  /** Sets the source of the frames, which is paused while a reader is behind. */
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

  /** An iterator over all events from now on. It ends when the stream is closed or the reader returns. */
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
      // Sequential, because the queue has one consumer; an async generator could not be ended while it waits.
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

  /** Ends all readers after the events in their queues. */
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
      void queue.whenBelowCapacity().then(() => this.#connection?.resume(queue));
    }
  }
}

const REASONS = { text: 'is not JSON', base64: 'is neither JSON nor UTF-8 text' };

const notParsed = (reason: string): InvalidMessage => ({ type: 'invalid', ok: false, path: '', reason });
