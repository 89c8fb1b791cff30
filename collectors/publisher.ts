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
  withTimeout,
} from '../core/index.js';
import type { CollectorMetrics } from './metrics.js';
import { Utf8Slab } from './utf8-slab.js';

/** A raw record before it has a session and a sequence number. */
export interface ReceivedRecord {
  readonly kind: RecordKind;
  /** Records of one key stay in order. */
  readonly key: string;
  /** Time of receipt, Unix microseconds. */
  readonly receivedAt: number;
  /** The request, as JSON text. */
  readonly requestJson: string;
  /** As `encodeBody` returns it. */
  readonly bodyJson: string;
  readonly encoding?: 'text' | 'base64' | undefined;
}

interface Queued {
  readonly record: ReceivedRecord;
  onDurable(): void;
}

export interface PublisherOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly metrics: CollectorMetrics;
  readonly log: Logger;
  /** Size of the queue at which producers are asked to pause, bytes. Default 32 MiB. */
  readonly queueBytes?: number;
}

/** Delay between appends, so that each has many records, milliseconds. No delay while the queue exceeds FULL_APPEND_BYTES. */
const LINGER_MS = 20;
const FULL_APPEND_BYTES = 512 * 1024;
const MAX_RECORDS = 5000;
/** Approximate memory of a queued record without its body. */
const OVERHEAD_BYTES = 300;

const IGNORE = (): void => undefined;

/**
 * Appends the records of one session to the bus: numbered per topic (`sequence`, from 1), in order, one append per topic
 * at a time. A failed append is repeated unchanged, so that a record that is on the bus twice has the same number. Nothing
 * is dropped: when the queue is full, producers are asked to pause.
 */
export class Publisher {
  /** UUID of the session. */
  readonly sessionId = randomUUID();
  readonly #queue: BoundedQueue<Queued>;
  readonly #sequences = new Map<Topic, number>();
  readonly #acknowledged = new Map<Topic, number>();
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
    this.#queue = new BoundedQueue(capacity, ({ record }) => record.bodyJson.length + OVERHEAD_BYTES);
    this.#outage = new OutageLog(options.log, 'the bus accepts records again', options.clock);
    // Nothing was received before.
    this.#watermark = options.clock.nowMicros();
  }

  /** Runs until `drain` is done; rejects when the bus rejects records permanently. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Queues a record; false when the producer should pause until `whenWritable`. */
  push(record: ReceivedRecord): boolean {
    return this.#push(record, IGNORE);
  }

  /** Queues a record; resolves when it is durable on the bus. */
  publish(record: ReceivedRecord): Promise<void> {
    return new Promise((resolve) => void this.#push(record, resolve));
  }

  /** Resolves when the queue is no longer full. */
  whenWritable(): Promise<void> {
    return this.#queue.whenBelowCapacity();
  }

  /** Time up to which everything received is durable, Unix microseconds. Never decreases. */
  get watermark(): number {
    if (this.#inFlightSince !== undefined) this.#watermark = Math.max(this.#watermark, this.#inFlightSince - 1);
    else if (this.#queue.length === 0) this.#watermark = Math.max(this.#watermark, this.options.clock.nowMicros());
    return this.#watermark;
  }

  /** The last acknowledged sequence number per topic. */
  get acknowledged(): Record<string, number> {
    return Object.fromEntries(this.#acknowledged);
  }

  /** Waits until everything is on the bus, at most `timeoutMs`; returns the number of lost records. */
  async drain(timeoutMs: number): Promise<number> {
    this.#closing = true;
    this.#queue.close();
    await withTimeout(timeoutMs, Promise.resolve(this.#running));
    this.#abandoned.abort(new Error('the publisher is closed'));
    return this.#queue.length + this.#inFlight;
  }

  #push(record: ReceivedRecord, onDurable: () => void): boolean {
    const hasCapacity = this.#queue.push({ record, onDurable });
    this.options.metrics.queueBytes.set(this.#queue.size);
    if (!hasCapacity) this.options.metrics.paused.inc();
    return hasCapacity;
  }

  async #run(): Promise<void> {
    const { clock, metrics } = this.options;
    for (;;) {
      const items = await this.#queue.take(MAX_RECORDS);
      if (items.length === 0) return;
      const startedMs = clock.nowMs();
      this.#inFlight = items.length;
      const records = items.map(({ record }) => record);
      // A collector event may have a time in the past.
      const payloads = records.filter(({ kind }) => kind !== 'collector.event');
      this.#inFlightSince = payloads.length > 0 ? Math.min(...payloads.map((it) => it.receivedAt)) : undefined;
      await this.#append(records);
      // Records that are still queued were received after the last of these.
      this.#watermark = Math.max(this.#watermark, payloads.at(-1)?.receivedAt ?? 0);
      this.#inFlightSince = undefined;
      this.#inFlight = 0;
      metrics.queueBytes.set(this.#queue.size);
      for (const { onDurable } of items) onDurable();
      const restMs = startedMs + LINGER_MS - clock.nowMs();
      if (restMs > 0 && !this.#closing && this.#queue.size < FULL_APPEND_BYTES) await clock.sleep(restMs);
    }
  }

  /** Appends to all topics at once; resolves when everything is durable. */
  async #append(items: readonly ReceivedRecord[]): Promise<void> {
    const batches = new Map<Topic, BusRecord[]>();
    for (const record of items) {
      const topic = RECORD_KINDS[record.kind];
      const sequence = (this.#sequences.get(topic) ?? 0) + 1;
      this.#sequences.set(topic, sequence);
      const records = batches.get(topic) ?? [];
      batches.set(topic, records);
      this.#encode(record, sequence, records);
    }
    await Promise.all([...batches].map(([topic, records]) => this.#appendBatch(topic, records)));
  }

  /** Adds the record, or its pieces if it exceeds the maximum size of a bus record. */
  #encode(record: ReceivedRecord, sequence: number, into: BusRecord[]): void {
    const { kind, key, receivedAt, requestJson, encoding, bodyJson } = record;
    const { sessionId } = this;
    const { maxRecordBytes } = this.options.bus;
    const fields: EnvelopeFields = { kind, sessionId, sequence, receivedAt, requestJson, encoding, bodyJson };
    // A text has no more UTF-16 units than bytes.
    const value = bodyJson.length > maxRecordBytes ? undefined : this.#slab.encode(encodeEnvelope(fields));
    if (value && value.length <= maxRecordBytes) into.push({ key, value });
    else for (const piece of piecesOf(fields, maxRecordBytes)) into.push({ key, value: Buffer.from(piece) });
  }

  async #appendBatch(topic: Topic, records: readonly BusRecord[]): Promise<void> {
    const { bus, clock, metrics } = this.options;
    const last = this.#sequences.get(topic) ?? 0;
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
    this.#acknowledged.set(topic, last);
    metrics.appended.inc({ topic }, records.length);
  }
}

/** The pieces of a record that exceeds the maximum size of a bus record, encoded. */
function* piecesOf(fields: EnvelopeFields, maxBytes: number): Generator<string> {
  // A body that is not JSON is a string already: its text is split.
  const text = fields.encoding ? (JSON.parse(fields.bodyJson) as string) : fields.bodyJson;
  // In JSON and UTF-8, a UTF-16 unit has at most six bytes.
  const pieceLength = Math.floor((maxBytes - Buffer.byteLength(encodeEnvelope({ ...fields, bodyJson: '' })) - 64) / 6);
  const of = Math.ceil(text.length / pieceLength);
  for (let i = 0; i < of; i++) {
    const bodyJson = JSON.stringify(text.slice(i * pieceLength, (i + 1) * pieceLength));
    yield encodeEnvelope({ ...fields, piece: { i, of }, bodyJson });
  }
}
