import type { Quirks } from '../quirks.js';
import { wholeNumber } from './validate.js';

export interface PageRequest {
  /** From 0. */
  readonly page: number;
  readonly size: number;
}

/** `page` and `size` of the query; a size above the maximum is reduced to it. @throws HttpError 400 */
export function pageRequest(query: URLSearchParams, presetSize: number, { maxPageSize }: Quirks): PageRequest {
  const page = wholeNumber(query, 'page', { preset: 0, min: 0 });
  return { page, size: Math.min(wholeNumber(query, 'size', { preset: presetSize, min: 1 }), maxPageSize) };
}

/** One page of a complete list. */
export const pageOf = <T>(list: readonly T[], { page, size }: PageRequest): readonly T[] =>
  list.slice(page * size, (page + 1) * size);

/** The wrapper of part 4.4. */
export function wrapped<T>(items: readonly T[], total: number, { page, size }: PageRequest) {
  return { i: items, p: page, s: size, tp: Math.ceil(total / size) };
}
