import type { DecodedList } from '../decode/result.js';
import type { WalkReport } from './page-walk.js';
import { PagingProbe } from './paging-probe.js';

/** The outcome of a walk over a history. `shifted` does not make it incomplete: see `HistoryWalk`. */
export interface HistoryWalkReport extends WalkReport {
  /** The walk ended at an item for which `isKnown` returned true. */
  readonly reachedKnown: boolean;
}

export interface HistoryWalkConfig<T, A extends DecodedList<T>> {
  readonly fetch: (page: number) => Promise<A>;
  readonly idOf: (item: T) => string;
  /** Whether the caller has stored an item and every older one: the walk stops there. */
  readonly isKnown?: ((item: T) => boolean) | undefined;
  /** Maximum number of pages to read. */
  readonly maxPages: number;
}

/**
 * Reads a history, newest first, to its end, one page per iteration step; each item is yielded once. It can be iterated
 * once.
 *
 * New items may appear at the front at any time. They move older items onto later pages, so no older item is missed; an
 * item that is read a second time is dropped, and shows that there are new items. After the last page, the pages are then
 * read from the front again up to the first known item. So the walk yields every item that was in the history when page 0
 * was last read, and none twice.
 */
export class HistoryWalk<T, A extends DecodedList<T>> implements AsyncIterable<A> {
  readonly #seen = new Set<string>();
  #expected: number | null = null;
  #got = 0;
  #bad = 0;
  #pages = 0;
  #repeated = 0;
  #totalChanged = false;
  #reachedKnown = false;
  #ended = false;
  #started = false;

  readonly #probe: PagingProbe<T>;

  constructor(private readonly options: HistoryWalkConfig<T, A>) {
    const { fetch, idOf } = options;
    this.#probe = new PagingProbe(fetch, (item) => this.#seen.has(idOf(item)));
  }

  /** Yields every page with the items that were on no earlier page; `items` may be empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    if (this.#started) throw new Error('a history walk can be iterated once; start another');
    this.#started = true;
    let read = 0;
    for (let page = 0, more = true; more; page++) {
      if (this.#pages >= this.options.maxPages) return;
      const answer = await this.options.fetch(page);
      const { fresh, foundKnown } = this.#add(answer);
      read += answer.items.length + answer.invalidEntries.length + answer.invalidEntriesOmitted;
      more = !foundKnown && !this.#isEnd(answer, page, read) && !(await this.#probe.isStuck(answer, fresh.length));
      if (!more && this.#repeated === 0) this.#ended = true;
      yield { ...answer, items: fresh };
    }
    if (!this.#ended) yield* this.#catchUp();
  }

  get report(): HistoryWalkReport {
    const cause = this.#cause();
    return {
      expectedItems: this.#expected,
      receivedItems: this.#got,
      distinctItems: this.#seen.size,
      invalid: this.#bad,
      pages: this.#pages,
      shifted: this.#repeated > 0 || this.#totalChanged,
      truncated: !this.#ended,
      complete: cause === '',
      cause,
      reachedKnown: this.#reachedKnown,
    };
  }

  /** Reads the items that appeared at the front since the first page was read. */
  async *#catchUp(): AsyncGenerator<A, void, undefined> {
    const before = new Set(this.#seen);
    let read = 0;
    for (let page = 0; !this.#ended; page++) {
      if (this.#pages >= this.options.maxPages) return;
      const answer = await this.options.fetch(page);
      const { fresh, foundKnown } = this.#add(answer);
      read += answer.items.length + answer.invalidEntries.length + answer.invalidEntriesOmitted;
      const reached = foundKnown || answer.items.some((item) => before.has(this.options.idOf(item)));
      this.#ended = reached || this.#isEnd(answer, page, read);
      yield { ...answer, items: fresh };
    }
  }

  /** Counts the items of a page. Returns those that are new and not known to the caller. */
  #add(list: A): { readonly fresh: readonly T[]; readonly foundKnown: boolean } {
    const { idOf, isKnown } = this.options;
    const fresh: T[] = [];
    let foundKnown = false;
    for (const item of list.items) {
      const known = isKnown?.(item) ?? false;
      if (known) foundKnown = true;
      const id = idOf(item);
      if (this.#seen.has(id)) this.#repeated += 1;
      else if (!known) fresh.push(item);
      this.#seen.add(id);
    }
    const { totalItems } = list.page;
    if (totalItems !== null) {
      if (this.#expected !== null && this.#expected !== totalItems) this.#totalChanged = true;
      this.#expected = totalItems;
    }
    this.#got += list.items.length + list.invalidEntries.length + list.invalidEntriesOmitted;
    this.#bad += list.invalidEntries.length + list.invalidEntriesOmitted;
    this.#pages += 1;
    this.#reachedKnown ||= foundKnown;
    return { fresh, foundKnown };
  }

  /** @param read number of entries on the pages of this pass so far: the position in the list */
  #isEnd({ items, invalidEntries, page: { totalPages, totalItems } }: A, page: number, read: number): boolean {
    if (items.length + invalidEntries.length === 0) return true;
    return totalPages !== null ? page + 1 >= totalPages : totalItems !== null && read >= totalItems;
  }

  #cause(): string {
    const causes: string[] = [];
    if (!this.#ended) causes.push('the walk ended before the last page');
    if (this.#bad > 0) causes.push(`${this.#bad} entries could not be understood`);
    const unchanged = this.#repeated === 0 && !this.#totalChanged && !this.#reachedKnown;
    if (
      this.#ended &&
      unchanged &&
      this.#expected !== null &&
      this.#seen.size !== this.#expected &&
      causes.length === 0
    ) {
      causes.push(`${this.#seen.size} items were read where the exchange says ${this.#expected}`);
    }
    return causes.join('; ');
  }
}
