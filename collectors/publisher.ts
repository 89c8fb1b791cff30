import { randomUUID } from 'node:crypto';
import type { Bus, BusRecord } from '../bus/index.js';
import {
  BoundedQueue,
  type Clock,
  describeError,
  type EnvelopeFields,
  encodeEnvelope,
  isRetryable,
  type Logger,
  OutageLog,
  RECORD_KINDS,
  type RecordKind,
  retry,
  type Topic,
} from '../core/index.js';
import type { CollectorMetrics } from './metrics.js';
import { Utf8Slab } from './utf8-slab.js';

/** What was received, on its way to the bus. */
export interface Received {
  readonly kind: RecordKind;
  /** Records of one key stay in order. */
  readonly key: string;
  /** Receive time, Unix microseconds. */
  readonly receivedAt: number;
  /** What was asked, as JSON text. */
  readonly requestJson: string;
  /** As `encodeBody` gives it. */
  readonly bodyJson: string;
  readonly encoding?: 'text' | 'base64' | undefined;
}

interface Queued {
  readonly received: Received;
  acknowledged(): void;
}

export interface PublisherOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly metrics: CollectorMetrics;
  readonly log: Logger;
  /** Size of the queue at which producers are asked to pause, bytes. Default 32 MiB. */
  readonly queueBytes?: number;
}

/** Pause between appends, so that they carry many records each, milliseconds. A fuller queue is not kept waiting. */
const LINGER_MS = 20;
const FULL_APPEND_BYTES = 512 * 1024;
const MAX_RECORDS = 5000;
/** What an item costs beyond its body, roughly. */
const OVERHEAD_BYTES = 300;

/**
 * The way of one session's records to the bus. It numbers them (`n`, per topic, from 1), keeps them in order, never has
 * more than one append per topic under way and repeats a failed one unchanged, so that a record which arrives twice can
 * be told by its number. It drops nothing: when the queue is full, producers are asked to pause.
 */
export class Publisher {
  /** UUID of the session. */
  readonly sessionId = randomUUID();
  readonly #queue: BoundedQueue<Queued>;
  readonly #numbers = new Map<Topic, number>();
  readonly #acked = new Map<Topic, number>();
  readonly #outage: OutageLog;
  readonly #slab = new Utf8Slab();
  readonly #abandoned = new AbortController();
  #inFlight = 0;
  #inFlightSince: number | undefined;
  #watermark: number;
  #running: Promise<void> | undefined;
  #closing = false;

  constructor(private readonly options: PublisherOptions) {
    const capacity = options.queueBytes ?? 32 * 1024 * 1024;
    this.#queue = new BoundedQueue(capacity, ({ received }) => received.bodyJson.length + OVERHEAD_BYTES);
    this.#outage = new OutageLog(options.log, 'the bus takes records again');
    // Nothing was received before.
    this.#watermark = options.clock.nowMicros();
  }

  /** Runs until `drain` is done; rejects when the bus refuses records for good. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Takes what was received; false when the producer should pause until `whenRoom`. */
  push(received: Received): boolean {
    return this.#push(received, () => undefined);
  }

  /** The same, and resolves when it is durable on the bus. */
  publish(received: Received): Promise<void> {
    return new Promise((resolve) => void this.#push(received, resolve));
  }

  whenRoom(): Promise<void> {
    return this.#queue.whenRoom();
  }

  /** Everything received up to this moment is durable, Unix microseconds. Never goes back. */
  get watermark(): number {
    if (this.#inFlightSince !== undefined) this.#watermark = Math.max(this.#watermark, this.#inFlightSince - 1);
    else if (this.#queue.length === 0) this.#watermark = Math.max(this.#watermark, this.options.clock.nowMicros());
    return this.#watermark;
  }

  /** The last acknowledged `n` per topic. */
  get acknowledged(): Record<string, number> {
    return Object.fromEntries(this.#acked);
  }

  /** Waits until everything is on the bus, at most `timeoutMs`; answers how many records had to be given up. */
  async drain(timeoutMs: number): Promise<number> {
    this.#closing = true;
    this.#queue.close();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#running?.catch(() => undefined), late]);
    clearTimeout(timer);
    this.#abandoned.abort(new Error('gave up'));
    return this.#queue.length + this.#inFlight;
  }

  #push(received: Received, acknowledged: () => void): boolean {
    const room = this.#queue.push({ received, acknowledged });
    this.options.metrics.queueBytes.set(this.#queue.size);
    if (!room) this.options.metrics.paused.inc();
    return room;
  }

  async #run(): Promise<void> {
    const { clock, metrics } = this.options;
    for (;;) {
      const items = await this.#queue.take(MAX_RECORDS);
      if (items.length === 0) return;
      const startedMs = clock.nowMs();
      this.#inFlight = items.length;
      const seen = items.filter(({ received }) => received.kind !== 'collector.event');
      this.#inFlightSince = seen.length > 0 ? Math.min(...seen.map(({ received }) => received.receivedAt)) : undefined;
      await this.#append(items.map(({ received }) => received));
      // What still waits was received after the last of these.
      this.#watermark = Math.max(this.#watermark, seen.at(-1)?.received.receivedAt ?? 0);
      this.#inFlightSince = undefined;
      this.#inFlight = 0;
      metrics.queueBytes.set(this.#queue.size);
      for (const { acknowledged } of items) acknowledged();
      const restMs = startedMs + LINGER_MS - clock.nowMs();
      if (restMs > 0 && !this.#closing && this.#queue.size < FULL_APPEND_BYTES) await clock.sleep(restMs);
    }
  }

  /** Appends to all topics at once; resolves when all is durable. */
  async #append(items: readonly Received[]): Promise<void> {
    const batches = new Map<Topic, BusRecord[]>();
    for (const received of items) {
      const topic = RECORD_KINDS[received.kind];
      const n = (this.#numbers.get(topic) ?? 0) + 1;
      this.#numbers.set(topic, n);
      const records = batches.get(topic) ?? [];
      batches.set(topic, records);
      this.#encode(received, n, records);
    }
    await Promise.all([...batches].map(([topic, records]) => this.#appendBatch(topic, records)));
  }

  /** Adds the record, or its pieces when it is larger than the bus takes. */
  #encode(received: Received, n: number, into: BusRecord[]): void {
    const { kind, key, receivedAt: at, requestJson: reqJson, encoding: enc, bodyJson } = received;
    const { maxRecordBytes } = this.options.bus;
    const fields: EnvelopeFields = {
      kind,
      sessionId: this.sessionId,
      sequence: n,
      receivedAt: at,
      requestJson: reqJson,
      encoding: enc,
      bodyJson,
    };
    const value = this.#slab.encode(encodeEnvelope(fields));
    if (value.length <= maxRecordBytes) into.push({ key, value });
    else for (const piece of piecesOf(fields, maxRecordBytes)) into.push({ key, value: Buffer.from(piece) });
  }

  async #appendBatch(topic: Topic, records: readonly BusRecord[]): Promise<void> {
    const { bus, clock, metrics } = this.options;
    const last = this.#numbers.get(topic) ?? 0;
    await retry(() => bus.append(topic, records), {
      attempts: Number.POSITIVE_INFINITY,
      baseMs: 50,
      capMs: 2000,
      signal: this.#abandoned.signal,
      clock,
      retryable: isRetryable,
      onRetry: (error) => {
        metrics.appendFailures.inc();
        this.#outage.failed(describeError(error));
      },
    });
    this.#outage.succeeded();
    this.#acked.set(topic, last);
    metrics.appended.inc({ topic }, records.length);
  }
}

/** The values of a record that is too large for the bus, as texts. */
function* piecesOf(fields: EnvelopeFields, maxBytes: number): Generator<string> {
  // A body that is no JSON already is a string: its pieces are those of the text that it stands for.
  const text = fields.encoding ? (JSON.parse(fields.bodyJson) as string) : fields.bodyJson;
  // As JSON and UTF-8, one UTF-16 unit takes six bytes at most.
  const room = Math.floor((maxBytes - Buffer.byteLength(encodeEnvelope({ ...fields, bodyJson: '' })) - 64) / 6);
  const of = Math.ceil(text.length / room);
  for (let i = 0; i < of; i++) {
    const bodyJson = JSON.stringify(text.slice(i * room, (i + 1) * room));
    yield encodeEnvelope({ ...fields, piece: { i, of }, bodyJson });
  }
}
