import { wholeNumber } from '../params.js';

export interface PageQuery {
  /** Zero-based; default 0. */
  readonly page?: number;
  /** Default: the operation's own. The exchange may cut it. */
  readonly size?: number;
}

/** `page` and `size` as they are sent. @throws UsageError */
export function pageOf(query: PageQuery, defaultSize: number): { page: number; size: number } {
  return { page: wholeNumber('page', query.page ?? 0, 0), size: wholeNumber('size', query.size ?? defaultSize, 1) };
}
