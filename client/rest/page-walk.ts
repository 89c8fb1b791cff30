import type { DecodedList } from '../decode/result.js';
import { PagingProbe } from './paging-probe.js';

/** The outcome of a walk over all pages. */
export interface WalkReport {
  /** Total number of items by the exchange's latest response; null when it does not say. */
  readonly expectedItems: number | null;
  /** Number of items received, including repeated and invalid ones. */
  readonly receivedItems: number;
  /** Number of distinct valid items. */
  readonly distinctItems: number;
  /** Number of invalid items. */
  readonly invalid: number;
  /** Number of pages read. */
  readonly pages: number;
  /** The list changed while it was read: an item was received twice, or the total changed. */
  readonly shifted: boolean;
  /** The walk ended before the last page: by its page limit, its reader, or an error. */
  readonly truncated: boolean;
  /** Every item of the list was received exactly once. */
  readonly complete: boolean;
  /** Why it is not complete; empty when it is. */
  readonly cause: string;
}

export interface PageWalkConfig<T, A> {
  readonly fetch: (page: number) => Promise<A>;
  readonly list: (answer: A) => DecodedList<T>;
  readonly idOf: (item: T) => string;
  /** Maximum number of pages to read. */
  readonly maxPages: number;
  /**
   * For lists from which items can disappear, which moves later items onto pages that were already read: reads all pages
   * but the last a second time and compares. Default false.
   */
  readonly verify?: boolean;
}

/**
 * Reads a paged list to its end, one page per iteration step; `report` gives the outcome so far. It can be iterated
 * once.
 */
export class PageWalk<T, A> implements AsyncIterable<A> {
  readonly #seen = new Set<string>();
  #expected: number | null = null;
  #got = 0;
  #bad = 0;
  #pages = 0;
  #overlap = 0;
  #totalChanged = false;
  #ended = false;
  #started = false;
  /** The IDs on every page, for the comparison. */
  readonly #idsByPage: string[] = [];
  #compared = false;
  #moved = false;

  readonly #probe: PagingProbe<T>;

  constructor(private readonly options: PageWalkConfig<T, A>) {
    const { fetch, list, idOf } = options;
    this.#probe = new PagingProbe(
      async (page) => list(await fetch(page)),
      (item) => this.#seen.has(idOf(item)),
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    if (this.#started) throw new Error('a page walk can be iterated once; start another');
    this.#started = true;
    while (!this.#ended && this.#pages < this.options.maxPages) {
      const answer = await this.options.fetch(this.#pages);
      await this.#add(this.options.list(answer));
      yield answer;
    }
    if (this.options.verify && this.#ended) await this.#compare();
  }

  get report(): WalkReport {
    const unique = this.#seen.size;
    const shifted = this.#overlap > 0 || this.#totalChanged || this.#moved;
    const cause = this.#cause(unique);
    return {
      expectedItems: this.#expected,
      receivedItems: this.#got,
      distinctItems: unique,
      invalid: this.#bad,
      pages: this.#pages,
      shifted,
      truncated: !this.#ended,
      complete: cause === '',
      cause,
    };
  }

  /** A page that is unchanged after the next one was read did not change while that one was read. */
  async #compare(): Promise<void> {
    for (let page = 0; page < this.#pages - 1 && !this.#moved; page++) {
      const again = this.#idsOf(this.options.list(await this.options.fetch(page)));
      this.#moved = again !== this.#idsByPage[page];
    }
    this.#compared = true;
  }

  #idsOf(list: DecodedList<T>): string {
    return JSON.stringify(list.items.map(this.options.idOf));
  }

  async #add(list: DecodedList<T>): Promise<void> {
    if (this.options.verify) this.#idsByPage.push(this.#idsOf(list));
    const before = this.#seen.size;
    for (const item of list.items) this.#seen.add(this.options.idOf(item));
    const fresh = this.#seen.size - before;
    const { totalItems, totalPages } = list.page;
    if (totalItems !== null) {
      if (this.#expected !== null && this.#expected !== totalItems) this.#totalChanged = true;
      this.#expected = totalItems;
    }
    const size = list.items.length + list.invalidEntries.length + list.invalidEntriesOmitted;
    this.#got += size;
    this.#bad += list.invalidEntries.length + list.invalidEntriesOmitted;
    this.#pages += 1;
    const last = totalPages !== null ? this.#pages >= totalPages : totalItems !== null && this.#got >= totalItems;
    this.#ended = size === 0 || last;
    if (!this.#ended && (await this.#probe.isStuck(list, fresh))) this.#ended = true;
    else this.#overlap += list.items.length - fresh;
  }

  #cause(unique: number): string {
    const causes: string[] = [];
    if (!this.#ended) causes.push('the walk ended before the last page');
    if (this.#overlap > 0) causes.push(`${this.#overlap} items were received twice`);
    if (this.#totalChanged) causes.push('the total changed while pages were read');
    if (this.#moved) causes.push('a page changed while the others were read');
    else if (this.options.verify && this.#ended && this.#pages > 1 && !this.#compared) {
      causes.push('the walk ended before the pages were compared');
    }
    if (this.#bad > 0) causes.push(`${this.#bad} entries could not be understood`);
    if (this.#ended && this.#expected !== null && unique !== this.#expected && causes.length === 0) {
      causes.push(`${unique} items were read where the exchange says ${this.#expected}`);
    }
    return causes.join('; ');
  }
}
