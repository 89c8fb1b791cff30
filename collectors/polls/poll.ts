import { randomUUID } from 'node:crypto';
import type { ExchangeClient, RawResponse, WalkReport } from '../../client/index.js';
import {
  type Clock,
  type CollectSettings,
  countJsonNames,
  countNames,
  describeError,
  type EncodedBody,
  encodeBody,
  isRetryable,
  type OutageLog,
  type PollReceipt,
  type RecordKind,
  type RestRequest,
  untilAborted,
} from '../../core/index.js';
import type { CollectorEventWriter } from '../collector-event-writer.js';
import type { CollectorMetrics } from '../metrics.js';
import type { Publisher } from '../publisher.js';
import type { ListedEntry, PublishedEntries } from './published-entries.js';

export interface PollParts {
  readonly client: ExchangeClient;
  readonly publisher: Publisher;
  readonly collectorEvents: CollectorEventWriter;
  readonly metrics: CollectorMetrics;
  readonly publishedEntries: PublishedEntries;
  readonly outage: OutageLog;
  readonly clock: Clock;
  readonly settings: CollectSettings;
}

export interface PollSource {
  readonly kind: RecordKind;
  /** Name of the client's operation. */
  readonly operation: string;
  /** An account, a market, or `all`. */
  readonly subject: string;
  /** Key of its records on the bus. */
  readonly key: string;
  /** Configured name of the account whose credentials are used. */
  readonly account?: string | undefined;
  /** The entries of a body, which are marked when they are unchanged; absent for lists whose every poll counts. */
  readonly entriesOf?: ((body: unknown) => readonly ListedEntry[]) | undefined;
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
  readonly #startedAtMs: number;
  readonly #publishing: Promise<void>[] = [];

  constructor(
    private readonly parts: PollParts,
    private readonly source: PollSource,
    private readonly signal: AbortSignal,
  ) {
    this.#startedAt = parts.clock.nowMicros();
    this.#startedAtMs = parts.clock.elapsedMs();
  }

  /** For `CallOptions`: publishes the response unchanged, with any status, also of attempts that are retried. */
  readonly onResponse = (response: RawResponse): void => this.publish(response);

  /** As `onResponse`. @param more further fields of the request in the raw record */
  publish(response: RawResponse, more: Pick<RestRequest, 'pass'> = {}): void {
    const { kind, key, operation, account } = this.source;
    const { metrics, publisher, publishedEntries } = this.parts;
    metrics.requests.inc({ operation, status: response.status });
    const owner = account === undefined ? {} : { account };
    const body = encodeBody(response.bytes);
    const receivedAt = response.receivedAtMicros;
    const unchanged = publishedEntries.add(kind, receivedAt, this.#entries(response, body));
    const asBefore = unchanged.length === 0 ? {} : { unchanged };
    const request: RestRequest = { ...response.request, ...more, poll: this.id, ...owner, ...asBefore };
    const { bodyJson, encoding } = body;
    const requestJson = JSON.stringify(request);
    this.#publishing.push(publisher.publish({ kind, key, receivedAt, requestJson, bodyJson, encoding }));
  }

  /** The entries of a response that become rows. */
  #entries({ status, truncated }: RawResponse, { bodyJson, parsed }: EncodedBody): readonly ListedEntry[] {
    const { entriesOf } = this.source;
    if (!entriesOf || truncated !== undefined || status < 200 || status > 299) return [];
    // A body in which an object repeats a name becomes a dead letter.
    if (typeof parsed !== 'object' || parsed === null) return [];
    if (countJsonNames(Buffer.from(bodyJson)) !== countNames(parsed)) return [];
    return entriesOf(parsed);
  }

  /** Resolves when all responses so far are durable on the bus; rejects with the signal's reason when it is aborted. */
  async published(): Promise<void> {
    await untilAborted(Promise.all(this.#publishing.splice(0)), this.signal);
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
    // Includes pages that the walk did not yield: it read them again for comparison, or failed after them.
    await this.published();
    const { expectedItems, receivedItems, distinctItems, pages, truncated, complete, cause } = walk.report;
    const counts = { expectedItems, receivedItems, distinctItems, pages, truncated };
    if (failure === undefined) this.finish({ ...counts, outcome: complete ? 'complete' : 'incomplete', cause });
    else this.fail(failure, counts);
    return failure === undefined ? { report: walk.report } : { report: walk.report, failure };
  }

  /** Writes the receipt of a successful poll. */
  finish(receipt: Receipt): void {
    this.parts.outage.succeeded(this.#startedAtMs);
    this.#write(receipt);
  }

  /**
   * Writes the receipt of a failed poll.
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
