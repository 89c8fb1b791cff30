import { randomUUID } from 'node:crypto';
import type { ExchangeClient, RawResponse } from '../client/index.js';
import type { Clock, Mark, OutageLog, RecordKind } from '../core/index.js';
import type { Marks } from './marks.js';
import type { CollectorMetrics } from './metrics.js';
import type { Publisher } from './publisher.js';
import { restRecord } from './rest-record.js';

export interface PollParts {
  readonly client: ExchangeClient;
  readonly publisher: Publisher;
  readonly marks: Marks;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
}

type Receipt = Omit<Extract<Mark, { type: 'poll' }>, 'type' | 'poll' | 'operation' | 'subject' | 'startedAt'>;

/** One poll: its answers go to the bus as they come, and whatever happens it leaves a receipt. */
export class Poll {
  readonly id = randomUUID();
  readonly #startedAt: number;
  readonly #publishing: Promise<void>[] = [];

  constructor(
    private readonly parts: PollParts,
    private readonly kind: RecordKind,
    private readonly operation: string,
    private readonly subject: string,
    /** Key of its records on the bus. */
    private readonly key: string,
    private readonly signal: AbortSignal,
  ) {
    this.#startedAt = parts.clock.nowMicros();
  }

  /** For `CallOptions`: records every answer, also those of failed attempts. */
  readonly onResponse = (response: RawResponse): void => {
    this.parts.metrics.requests.inc({ operation: this.operation, status: response.status });
    this.#publishing.push(this.parts.publisher.publish(restRecord(this.kind, this.key, this.id, response)));
  };

  /** Resolves when every answer so far is durable on the bus; rejects with the signal's reason when it is aborted. */
  async published(): Promise<void> {
    const { signal } = this;
    signal.throwIfAborted();
    let onAbort: () => void = () => undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort);
    });
    try {
      await Promise.race([Promise.all(this.#publishing.splice(0)), aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Leaves the receipt. */
  finish(receipt: Receipt): void {
    const { marks, metrics, outage } = this.parts;
    const { id: poll, operation, subject } = this;
    metrics.polls.inc({ operation, outcome: receipt.outcome });
    if (receipt.outcome === 'failed') outage.failed(receipt.cause);
    else outage.succeeded();
    void marks.write({ type: 'poll', poll, operation, subject, startedAt: this.#startedAt, ...receipt });
  }
}

/** The receipt of a poll that brought nothing. */
export const failedReceipt = (cause: string, pages = 0): Receipt => ({
  expected: null,
  got: 0,
  unique: 0,
  pages,
  truncated: false,
  outcome: 'failed',
  cause,
});
