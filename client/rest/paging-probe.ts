import type { DecodedList } from '../decode/result.js';
import { HttpStatusError } from '../errors/index.js';

/** A page beyond the end of every list. */
const FAR_PAGE = 1_000_000;

/**
 * Detects an exchange that ignores the page number and returns the same items for every page. Without totals, only an
 * empty page is the end of a list. When a page has no new items, either new items in front moved a complete page back, or
 * the exchange ignores the page number: requesting a page far beyond the end distinguishes the two.
 */
export class PagingProbe<T> {
  #supportsPages = false;

  constructor(
    private readonly fetch: (page: number) => Promise<DecodedList<T>>,
    private readonly isSeen: (item: T) => boolean,
  ) {}

  /** @param fresh number of items that were on no earlier page */
  async isStuck({ page }: DecodedList<T>, fresh: number): Promise<boolean> {
    const bounded = page.totalPages !== null || page.totalItems !== null;
    if (bounded || this.#supportsPages || fresh > 0) return false;
    const far = await this.#farPage();
    this.#supportsPages = far === undefined || far.items.length + far.invalidEntries.length === 0;
    return !this.#supportsPages && (far?.items.every(this.isSeen) ?? false);
  }

  async #farPage(): Promise<DecodedList<T> | undefined> {
    try {
      return await this.fetch(FAR_PAGE);
    } catch (error) {
      if (error instanceof HttpStatusError && (error.status === 400 || error.status === 404)) return undefined;
      throw error;
    }
  }
}
