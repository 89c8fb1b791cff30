import { decodeTags, type Tag } from '../decode/reference.js';
import type { Operation } from './operation.js';
import { wholeNumber } from './params.js';

export interface PopularTagsQuery {
  /** Number of tags; default 10. The maximum is not documented. */
  readonly limit?: number;
}

/** `GET /api/tags/popular`, part 4.5. */
export const popularTagsOperation: Operation<PopularTagsQuery, Tag> = {
  name: 'popular-tags',
  method: 'GET',
  buildRequest: ({ limit }) => ({
    path: '/api/tags/popular',
    ...(limit === undefined ? {} : { query: { limit: wholeNumber('limit', limit, 1) } }),
  }),
  decode: decodeTags,
};
