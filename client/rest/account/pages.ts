import { wholeNumber } from '../params.js';

export interface PageQuery {
  /** Zero-based; default 0. */
  readonly page?: number;
  /** The default depends on the operation. The exchange may reduce it. */
  readonly size?: number;
}

/** `page` and `size` as they are sent. @throws UsageError */
export function pageOf(query: PageQuery, defaultSize: number): { page: number; size: number } {
  return { page: wholeNumber('page', query.page ?? 0, 0), size: wholeNumber('size', query.size ?? defaultSize, 1) };
}
