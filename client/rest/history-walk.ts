import type { DecodedList } from '../decode/result.js';
import type { WalkReport } from './page-walk.js';
import { PagingProbe } from './paging-probe.js';

/** The receipt of a walk over a history. Here pages that moved are no harm: see `HistoryWalk`. */
export interface HistoryWalkReport extends WalkReport {
  /** It ended at an item that the caller had already. */
  readonly reachedKnown: boolean;
}

export interface HistoryWalkConfig<T, A extends DecodedList<T>> {
  readonly fetch: (page: number) => Promise<A>;
  readonly idOf: (item: T) => string;
  /** An item that the caller has, with all older ones: the walk goes no further back. */
  readonly isKnown?: ((item: T) => boolean) | undefined;
  /** Pages read at most. */
  readonly maxPages: number;
}

/**
 * Reads a history, newest first, to its end, one page per step of the iteration; each item is handed over once. It can
 * be iterated once.
 *
 * New items may come in front at any time. They only push others onto later pages, so reading on misses none of those
 * that are behind: what a page shows again is left out, and it tells that there is something new. Then, at the end,
 * the pages are read from the front again up to the first item that was there before. So everything that was in the
 * history when page 0 was read for the last time has been handed over, and nothing twice.
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

  /** Yields every page with the items that were not on a page before it; `items` may be empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    if (this.#started) throw new Error('a history walk can be iterated once; start another');
    this.#started = true;
    let read = 0;
    for (let page = 0, more = true; more; page++) {
      if (this.#pages >= this.options.maxPages) return;
      const answer = await this.options.fetch(page);
      const { fresh, metKnown } = this.#take(answer);
      read += answer.items.length + answer.invalidEntries.length + answer.invalidEntriesOmitted;
      more = !metKnown && !this.#isEnd(answer, page, read) && !(await this.#probe.isStuck(answer, fresh.length));
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

  /** What came in front since the first page was read. */
  async *#catchUp(): AsyncGenerator<A, void, undefined> {
    const before = new Set(this.#seen);
    let read = 0;
    for (let page = 0; !this.#ended; page++) {
      if (this.#pages >= this.options.maxPages) return;
      const answer = await this.options.fetch(page);
      const { fresh, metKnown } = this.#take(answer);
      read += answer.items.length + answer.invalidEntries.length + answer.invalidEntriesOmitted;
      const met = metKnown || answer.items.some((item) => before.has(this.options.idOf(item)));
      this.#ended = met || this.#isEnd(answer, page, read);
      yield { ...answer, items: fresh };
    }
  }

  /** Notes what a page holds; answers what is on it for the first time and not known to the caller. */
  #take(list: A): { readonly fresh: readonly T[]; readonly metKnown: boolean } {
    const { idOf, isKnown } = this.options;
    const fresh: T[] = [];
    let metKnown = false;
    for (const item of list.items) {
      const known = isKnown?.(item) ?? false;
      if (known) metKnown = true;
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
    this.#reachedKnown ||= metKnown;
    return { fresh, metKnown };
  }

  /** @param read entries on this pass's pages so far: the place in the list that it has come to */
  #isEnd({ items, invalidEntries: bad, page: { totalPages, totalItems } }: A, page: number, read: number): boolean {
    if (items.length + bad.length === 0) return true;
    return totalPages !== null ? page + 1 >= totalPages : totalItems !== null && read >= totalItems;
  }

  #cause(): string {
    const causes: string[] = [];
    if (!this.#ended) causes.push('the walk ended before the last page');
    if (this.#bad > 0) causes.push(`${this.#bad} entries could not be understood`);
    const still = this.#repeated === 0 && !this.#totalChanged && !this.#reachedKnown;
    if (this.#ended && still && this.#expected !== null && this.#seen.size !== this.#expected && causes.length === 0) {
      causes.push(`${this.#seen.size} items were read where the exchange says ${this.#expected}`);
    }
    return causes.join('; ');
  }
}
