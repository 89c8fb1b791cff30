import type { DecodedList } from '../decode/result.js';
import { HttpStatusError } from '../errors/index.js';

/** A page that no list reaches. */
const FAR_PAGE = 1_000_000;

/**
 * Tells whether reading on would bring the same again and again. Without totals only a page with nothing on it is the
 * end. A page with nothing new on it may have been pushed along whole by what came in front, or the exchange may not
 * know pages at all: a page far behind tells which.
 */
export class PagingProbe<T> {
  #knowsPages = false;

  constructor(
    private readonly fetch: (page: number) => Promise<DecodedList<T>>,
    private readonly isSeen: (item: T) => boolean,
  ) {}

  /** @param fresh items of this page that were on no page before it */
  async isStuck({ page }: DecodedList<T>, fresh: number): Promise<boolean> {
    const bounded = page.totalPages !== null || page.totalItems !== null;
    if (bounded || this.#knowsPages || fresh > 0) return false;
    const far = await this.#farPage();
    this.#knowsPages = far === undefined || far.items.length + far.invalidEntries.length === 0;
    return !this.#knowsPages && (far?.items.every(this.isSeen) ?? false);
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
