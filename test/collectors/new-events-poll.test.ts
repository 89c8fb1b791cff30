import { describe, expect, it } from 'vitest';
import type { Event, ListResult } from '../../client/index.js';
import { HistoryWalk } from '../../client/rest/history-walk.js';
import type { EventSearchParts } from '../../collectors/polls/event-search-poll.js';
import { NewEventsPoll } from '../../collectors/polls/new-events-poll.js';
import { createLogger, OutageLog, systemClock } from '../../core/index.js';

/** Event search of events that open while it is read: `opened(page)` is called before each page. */
async function found(listed: string[], known: readonly string[], opened: (page: number) => void): Promise<string[]> {
  const fetch = async (page: number, size: number) => {
    opened(page);
    const items = listed.slice(page * size, (page + 1) * size).map((eventId) => ({ eventId }) as unknown as Event);
    const info = { totalItems: listed.length, totalPages: Math.ceil(listed.length / size) };
    return {
      ok: true,
      items,
      invalidEntries: [],
      invalidEntriesOmitted: 0,
      page: info,
    } as unknown as ListResult<Event>;
  };
  const client: Pick<EventSearchParts['client'], 'walkNewEvents'> = {
    walkNewEvents: (isKnown, { pageSize = 0, maxPages = 0 } = {}) =>
      new HistoryWalk({ fetch: (page) => fetch(page, pageSize), idOf: ({ eventId }) => eventId, isKnown, maxPages }),
  };
  const outage = new OutageLog(createLogger({ service: 'test', level: 'fatal' }), 'back');
  const parts = { client, clock: systemClock, outage, recorded: false } as unknown as EventSearchParts;
  const all = new Set(known);
  const isKnown = ({ eventId }: Event) => all.has(eventId);
  const onEvents = (events: readonly Event[]) => {
    for (const { eventId } of events) all.add(eventId);
  };
  await new NewEventsPoll(parts, { isKnown, onEvents }).run(new AbortController().signal);
  return [...all].slice(known.length).sort();
}

describe('the poll of new events', () => {
  it('finds all of them, also when others open while it reads', async () => {
    const listed = ['e5', 'e4', 'e3', 'e2', 'e1', 'known', 'older'];
    let opening = 6;
    const open = (page: number) => {
      if (page > 0 && opening < 9) listed.unshift(`e${opening++}`);
    };
    expect(await found(listed, ['older', 'known'], open)).toEqual(['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e8']);
  });

  it('finds nothing when the newest event is known', async () => {
    expect(await found(['known', 'older'], ['older', 'known'], () => undefined)).toEqual([]);
  });
});
