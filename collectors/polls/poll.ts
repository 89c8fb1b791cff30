import { randomUUID } from 'node:crypto';
import type { ExchangeClient, RawResponse } from '../../client/index.js';
import type { Clock, Mark, OutageLog, RecordKind } from '../../core/index.js';
import type { Marks } from '../marks.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';
import { restRecord } from './rest-record.js';

export interface PollParts {
  readonly client: ExchangeClient;
  readonly publisher: Publisher;
  readonly marks: Marks;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
}

export type Receipt = Omit<Extract<Mark, { type: 'poll' }>, 'type' | 'poll' | 'operation' | 'subject' | 'startedAt'>;

/** One poll: its answers go to the bus as they come, and whatever happens it leaves a receipt. */
export class Poll {
  readonly id = randomUUID();
  readonly #startedAt: number;
  readonly #begunAt = performance.now();
  readonly #publishing: Promise<void>[] = [];

  constructor(
    private readonly parts: PollParts,
    private readonly kind: RecordKind,
    private readonly operation: string,
    private readonly subject: string,
    /** Key of its records on the bus. */
    private readonly key: string,
    private readonly signal: AbortSignal,
    /** Configured name of the account that asks. */
    private readonly account?: string,
  ) {
    this.#startedAt = parts.clock.nowMicros();
  }

  /** For `CallOptions`: records every answer, also those of failed attempts. */
  readonly onResponse = (response: RawResponse): void => {
    this.parts.metrics.requests.inc({ operation: this.operation, status: response.status });
    const { kind, key, id: poll, account } = this;
    this.#publishing.push(this.parts.publisher.publish(restRecord(kind, key, { poll, account }, response)));
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

  /**
   * Leaves the receipt.
   * @param options.isOutage whether a failure means that the exchange is down or not itself; the asker says others
   */
  finish(receipt: Receipt, { isOutage = true } = {}): void {
    const { marks, metrics, outage } = this.parts;
    const { id: poll, operation, subject } = this;
    metrics.polls.inc({ operation, outcome: receipt.outcome });
    if (receipt.outcome !== 'failed') outage.succeeded(this.#begunAt);
    else if (isOutage) outage.failed(receipt.cause);
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
