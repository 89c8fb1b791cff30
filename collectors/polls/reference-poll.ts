import {
  type CallOptions,
  type DecodedList,
  decodeCategories,
  decodeCoins,
  decodeTags,
  type ExchangeClient,
  HttpStatusError,
  type InvalidBody,
  type ListResult,
} from '../../client/index.js';
import type { PublicPoll, RecordKind } from '../../core/index.js';
import type { ShardAssignment } from '../shard-assignment.js';
import { Poll, type PollParts } from './poll.js';
import type { ListedEntry } from './published-entries.js';

/** More tags than the default of 10; if the exchange rejects it, the default is requested. */
const TAGS = 100;

interface ReferenceOperation {
  readonly kind: RecordKind;
  readonly operation: PublicPoll;
  readonly call: (client: ExchangeClient, options: CallOptions) => Promise<ListResult<unknown>>;
  readonly entriesOf: (body: unknown) => readonly ListedEntry[];
}

const OPERATIONS: readonly ReferenceOperation[] = [
  {
    kind: 'reference.categories',
    operation: 'categories',
    call: (client, options) => client.categories(options),
    entriesOf: entries(decodeCategories, ({ categoryId }) => categoryId),
  },
  {
    kind: 'reference.tags',
    operation: 'popular-tags',
    call: popularTags,
    entriesOf: entries(decodeTags, ({ name }) => name),
  },
  {
    kind: 'reference.coins',
    operation: 'coins',
    call: (client, options) => client.coins(options),
    entriesOf: entries(decodeCoins, ({ coinId }) => coinId),
  },
];

function entries<Item>(
  decode: (body: unknown) => DecodedList<Item> | InvalidBody,
  keyOf: (item: Item) => string,
): ReferenceOperation['entriesOf'] {
  return (body) => {
    const list = decode(body);
    return list.ok ? list.items.map((item) => ({ key: keyOf(item), content: item })) : [];
  };
}

/** Polls the lists of categories, popular tags and coins (parts 4.3 and 4.5) that are assigned to this collector. */
export class ReferencePoll {
  constructor(
    private readonly parts: PollParts,
    private readonly assignment: ShardAssignment,
  ) {}

  /** Polls each of them once. Never rejects: errors are in the receipts. */
  async run(signal: AbortSignal): Promise<void> {
    const own = OPERATIONS.filter(({ operation }) => this.assignment.owns(operation));
    await Promise.all(own.map((operation) => this.#poll(operation, signal)));
  }

  async #poll({ kind, operation, call, entriesOf }: ReferenceOperation, signal: AbortSignal): Promise<void> {
    const poll = new Poll(this.parts, { kind, operation, subject: 'all', key: operation, entriesOf }, signal);
    try {
      const { items, invalidEntries, page } = await call(this.parts.client, { signal, onResponse: poll.onResponse });
      await poll.published();
      const receivedItems = items.length + invalidEntries.length;
      const cause = invalidEntries.length > 0 ? `${invalidEntries.length} entries could not be understood` : '';
      const outcome = invalidEntries.length > 0 ? 'incomplete' : 'complete';
      const counts = {
        expectedItems: page.totalItems,
        receivedItems,
        distinctItems: items.length,
        pages: 1,
        truncated: false,
      };
      poll.finish({ ...counts, outcome, cause });
    } catch (error) {
      if (!signal.aborted) poll.fail(error, {}, true);
    }
  }
}

async function popularTags(client: ExchangeClient, options: CallOptions): Promise<ListResult<unknown>> {
  try {
    return await client.popularTags({ limit: TAGS }, options);
  } catch (error) {
    if (error instanceof HttpStatusError && error.status === 400) return client.popularTags({}, options);
    throw error;
  }
}
