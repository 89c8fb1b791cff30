import { randomUUID } from 'node:crypto';
import type { ExchangeClient, RawResponse, WalkReport } from '../../client/index.js';
import {
  type Clock,
  describeError,
  encodeBody,
  isRetryable,
  type OutageLog,
  type PollReceipt,
  type RecordKind,
  type RestRequest,
} from '../../core/index.js';
import type { CollectorEventWriter } from '../collector-event-writer.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';

export interface PollParts {
  readonly client: ExchangeClient;
  readonly publisher: Publisher;
  readonly collectorEvents: CollectorEventWriter;
  readonly metrics: CollectorMetrics;
  readonly outage: OutageLog;
  readonly clock: Clock;
}

export interface PollSource {
  readonly kind: RecordKind;
  /** Name of the client's operation. */
  readonly operation: string;
  /** What is asked about: an account, a market, or `all`. */
  readonly subject: string;
  /** Key of its records on the bus. */
  readonly key: string;
  /** Configured name of the account whose credentials are used. */
  readonly account?: string | undefined;
}

export type Receipt = Omit<PollReceipt, 'type' | 'pollId' | 'operation' | 'subject' | 'startedAt'>;

/** A walk over the pages of a list. */
interface Walk<Page> extends AsyncIterable<Page> {
  readonly report: WalkReport;
}

export interface WalkResult {
  readonly report: WalkReport;
  /** The error that ended it early. */
  readonly failure?: unknown;
}

/** One poll: publishes every response as it arrives, and always writes one receipt. */
export class Poll {
  readonly id = randomUUID();
  readonly #startedAt: number;
  readonly #startedAtMs = performance.now();
  readonly #publishing: Promise<void>[] = [];

  constructor(
    private readonly parts: PollParts,
    private readonly source: PollSource,
    private readonly signal: AbortSignal,
  ) {
    this.#startedAt = parts.clock.nowMicros();
  }

  /** For `CallOptions`: publishes the response as it is, whatever its status, also of attempts that are tried again. */
  readonly onResponse = (response: RawResponse): void => {
    const { kind, key, operation, account } = this.source;
    const { metrics, publisher } = this.parts;
    metrics.requests.inc({ operation, status: response.status });
    const request: RestRequest = { ...response.request, poll: this.id, ...(account === undefined ? {} : { account }) };
    const { bodyJson, encoding } = encodeBody(response.bytes);
    const requestJson = JSON.stringify(request);
    const receivedAt = response.receivedAtMicros;
    this.#publishing.push(publisher.publish({ kind, key, receivedAt, requestJson, bodyJson, encoding }));
  };

  /** Resolves when every response so far is durable on the bus; rejects with the signal's reason when it is aborted. */
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
   * Reads a walk to its end and writes the receipt. When it resolves, also with a failure, every page that was read is
   * durable on the bus. Rejects only with the signal's reason; then there is no receipt.
   */
  async walk<Page>(walk: Walk<Page>, onPage: (page: Page) => void = () => undefined): Promise<WalkResult> {
    let failure: unknown;
    try {
      for await (const page of walk) {
        onPage(page);
        await this.published();
      }
    } catch (error) {
      this.signal.throwIfAborted();
      failure = error;
    }
    // Also pages that the walk did not yield, because it read them again to compare them, or failed after them.
    await this.published();
    const { expectedItems, receivedItems, distinctItems, pages, truncated, complete, cause } = walk.report;
    const counts = { expectedItems, receivedItems, distinctItems, pages, truncated };
    if (failure === undefined) this.finish({ ...counts, outcome: complete ? 'complete' : 'incomplete', cause });
    else this.fail(failure, counts);
    return failure === undefined ? { report: walk.report } : { report: walk.report, failure };
  }

  /** Writes the receipt of a poll that was answered. */
  finish(receipt: Receipt): void {
    this.parts.outage.succeeded(this.#startedAtMs);
    this.#write(receipt);
  }

  /**
   * Writes the receipt of a poll that failed.
   * @param isOutage whether this error means that the exchange is unavailable; the caller reports other errors
   */
  fail(error: unknown, counts: Partial<Receipt> = {}, isOutage = isRetryable(error)): void {
    const cause = describeError(error);
    if (isOutage) this.parts.outage.failed(cause);
    this.#write({ ...NOTHING_RECEIVED, ...counts, outcome: 'failed', cause });
  }

  #write(receipt: Receipt): void {
    const { collectorEvents, metrics } = this.parts;
    const { operation, subject } = this.source;
    metrics.polls.inc({ operation, outcome: receipt.outcome });
    void collectorEvents.write({
      type: 'poll',
      pollId: this.id,
      operation,
      subject,
      startedAt: this.#startedAt,
      ...receipt,
    });
  }
}

const NOTHING_RECEIVED = { expectedItems: null, receivedItems: 0, distinctItems: 0, pages: 0, truncated: false };
