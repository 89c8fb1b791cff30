import { decodeEventPage, type Event } from '../decode/event.js';
import type { SEARCH_DIRECTIONS, SEARCH_LANGUAGES, SEARCH_SORTS, SearchRequestWire } from '../wire/index.js';
import type { Operation } from './operation.js';
import { wholeNumber } from './params.js';

/** The parameters of event search, part 4.5; all are optional. */
export interface EventQuery {
  readonly sortBy?: (typeof SEARCH_SORTS)[number];
  readonly sortDirection?: (typeof SEARCH_DIRECTIONS)[number];
  readonly language?: (typeof SEARCH_LANGUAGES)[number];
  readonly text?: string;
  /** Slugs. */
  readonly categories?: readonly string[];
  /** Names. */
  readonly tags?: readonly string[];
  readonly featured?: boolean;
}

export interface EventPageQuery extends EventQuery {
  /** Zero-based; default 0. */
  readonly page?: number;
  /** Default 20; the exchange may reduce it. */
  readonly size?: number;
}

/** `POST /api/events/search`, part 4.5: one page of events. */
export const searchEventsOperation: Operation<EventPageQuery, Event> = {
  name: 'event-search',
  method: 'POST',
  buildRequest(params) {
    const page = wholeNumber('page', params.page ?? 0, 0);
    const size = wholeNumber('size', params.size ?? 20, 1);
    return { path: '/api/events/search', query: { page, size }, body: bodyOf(params), about: { page } };
  },
  decode: decodeEventPage,
};

function bodyOf(query: EventQuery): SearchRequestWire {
  const body: SearchRequestWire = {};
  if (query.sortBy !== undefined) body.sb = query.sortBy;
  if (query.sortDirection !== undefined) body.sd = query.sortDirection;
  if (query.language !== undefined) body.l = query.language;
  if (query.text !== undefined) body.ss = query.text;
  if (query.categories !== undefined) body.c = [...query.categories];
  if (query.tags !== undefined) body.t = [...query.tags];
  if (query.featured !== undefined) body.ft = query.featured;
  return body;
}
