import type { z } from 'zod';
import type { searchRequestSchema } from '../../../client/wire/index.js';
import type { Category, EventView, ExchangeCore } from '../../engine/index.js';
import { TimeSlice } from '../time-slice.js';

type SearchRequest = z.output<typeof searchRequestSchema>;
type SortKey = (event: EventView) => number;

/** The key of each sort, and its direction when `sd` is not given. */
const SORTS: Record<NonNullable<SearchRequest['sb']>, { readonly key: SortKey; readonly direction: 'ASC' | 'DESC' }> = {
  VOLUME_24H: { key: (event) => event.volume24hMicros, direction: 'DESC' },
  TOTAL_VOLUME: { key: (event) => event.totalVolumeMicros, direction: 'DESC' },
  LIQUIDITY: { key: (event) => event.liquidityMicros, direction: 'DESC' },
  NEWEST: { key: (event) => event.createdAt, direction: 'DESC' },
  OLDEST: { key: (event) => event.createdAt, direction: 'ASC' },
  ENDING_SOON: { key: (event) => event.closesAt, direction: 'ASC' },
  CHANCE: { key: (event) => Math.max(...event.markets.map((market) => market.chance)), direction: 'DESC' },
};

/**
 * The events that a search finds, sorted; equal ones by event ID, so that pages do not overlap. `ss` searches titles,
 * market names and tags, ignoring case; `c` includes subcategories; `t` matches any of its tags; `l` has no effect, since
 * titles have one language here.
 */
export async function searchEvents(
  core: Pick<ExchangeCore, 'openEventIds' | 'event' | 'categories'>,
  request: SearchRequest,
): Promise<readonly EventView[]> {
  const fits = filterOf(core.categories(), request);
  const { key, direction } = SORTS[request.sb ?? 'VOLUME_24H'];
  const sign = (request.sd ?? direction) === 'ASC' ? 1 : -1;
  const slice = new TimeSlice();
  const found: { event: EventView; key: number }[] = [];
  for (const eventId of core.openEventIds()) {
    const event = core.event(eventId);
    if (event?.open && fits(event)) found.push({ event, key: key(event) });
    await slice.yieldWhenOver();
  }
  return found
    .sort((a, b) => sign * (a.key - b.key) || (a.event.eventId < b.event.eventId ? -1 : 1))
    .map(({ event }) => event);
}

function filterOf(categories: readonly Category[], { ss, c, t, ft }: SearchRequest): (event: EventView) => boolean {
  const text = ss?.trim().toLowerCase() ?? '';
  const slugs = c && c.length > 0 ? withSubcategories(categories, new Set(c)) : undefined;
  const tags = t && t.length > 0 ? new Set(t) : undefined;
  return (event) =>
    (!slugs || slugs.has(event.category)) &&
    (!tags || event.tags.some((tag) => tags.has(tag))) &&
    (!ft || event.featured) &&
    (text === '' || mentions(event, text));
}

function mentions(event: EventView, text: string): boolean {
  const has = (value: string) => value.toLowerCase().includes(text);
  return has(event.title) || event.tags.some(has) || event.markets.some((market) => has(market.name));
}

function withSubcategories(categories: readonly Category[], slugs: ReadonlySet<string>): Set<string> {
  const wanted = new Set(slugs);
  const walk = (list: readonly Category[], inside: boolean) => {
    for (const category of list) {
      const taken = inside || slugs.has(category.slug);
      if (taken) wanted.add(category.slug);
      walk(category.children, taken);
    }
  };
  walk(categories, false);
  return wanted;
}
