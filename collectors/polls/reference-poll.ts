import { type Answer, type CallOptions, type ExchangeClient, HttpStatusError } from '../../client/index.js';
import { describeError, type RecordKind } from '../../core/index.js';
import type { Share } from '../shard-assignment.js';
import { failedReceipt, Poll, type PollParts } from './poll.js';

/** More tags than the default 10; where the exchange does not allow it, the default is asked for. */
const TAGS = 100;

interface ReferenceOperation {
  readonly kind: RecordKind;
  readonly operation: string;
  readonly call: (client: ExchangeClient, options: CallOptions) => Promise<Answer<unknown>>;
}

const OPERATIONS: readonly ReferenceOperation[] = [
  { kind: 'reference.categories', operation: 'categories', call: (client, options) => client.categories(options) },
  { kind: 'reference.tags', operation: 'popular-tags', call: popularTags },
  { kind: 'reference.coins', operation: 'coins', call: (client, options) => client.coins(options) },
];

/** Polls those of categories, popular tags and coins (parts 4.3 and 4.5) that belong to this collector. */
export class ReferencePoll {
  constructor(
    private readonly parts: PollParts,
    private readonly share: Share,
  ) {}

  /** Each of them once. Never rejects: what went wrong is in the receipts. */
  async run(signal: AbortSignal): Promise<void> {
    const own = OPERATIONS.filter(({ operation }) => this.share.owns(operation));
    await Promise.all(own.map((operation) => this.#poll(operation, signal)));
  }

  async #poll({ kind, operation, call }: ReferenceOperation, signal: AbortSignal): Promise<void> {
    const poll = new Poll(this.parts, kind, operation, 'all', operation, signal);
    try {
      const { items, bad, page } = await call(this.parts.client, { signal, onResponse: poll.onResponse });
      await poll.published();
      const got = items.length + bad.length;
      const cause = bad.length > 0 ? `${bad.length} entries could not be understood` : '';
      const outcome = bad.length > 0 ? 'incomplete' : 'complete';
      const counts = { expected: page.totalItems, got, unique: items.length, pages: 1, truncated: false };
      poll.finish({ ...counts, outcome, cause });
    } catch (error) {
      if (!signal.aborted) poll.finish(failedReceipt(describeError(error)));
    }
  }
}

async function popularTags(client: ExchangeClient, options: CallOptions): Promise<Answer<unknown>> {
  try {
    return await client.popularTags({ limit: TAGS }, options);
  } catch (error) {
    if (error instanceof HttpStatusError && error.status === 400) return client.popularTags({}, options);
    throw error;
  }
}
