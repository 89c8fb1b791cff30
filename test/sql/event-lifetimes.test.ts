import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { collectorEvent, eventSeen, searchPoll, time, type Values, WarehouseData } from './warehouse-data.js';

const host = useDatabase({ migrated: true });
let data: WarehouseData;

/** Seconds after the start of the first session. */
const openFrom = async (event: string) => {
  const [row] = await data.ask<{ opened: number }>(
    `SELECT round(toUnixTimestamp64Micro(open_from) / 1e6 - 1767614400, 6) AS opened FROM event_lifetimes WHERE event = '${event}' AND stream = 'chance'`,
  );
  return row?.opened;
};

const search = (from: number, to: number, fields: Values = {}) => ({
  ...searchPoll(time(to)),
  started_at: time(from),
  ...fields,
});

beforeAll(async () => {
  data = new WarehouseData(host.database);
  const on = (event: string) => ({ stream: 'chance', connection_id: 'c', event, markets: [event] });
  await data.insert('collector_events', [
    collectorEvent('s', 1, time(0), 'session-started'),
    collectorEvent('s', 2, time(53), 'subscribed', on('created')),
    collectorEvent('s', 3, time(53), 'subscribed', on('undated')),
    collectorEvent('s', 4, time(53), 'subscribed', on('observed until it closed')),
    collectorEvent('s', 5, time(60), 'unsubscribed', {
      ...on('observed until it closed'),
      cause: 'the event has closed',
    }),
    collectorEvent('s', 6, time(200), 'session-stopped'),
    collectorEvent('later', 1, time(300), 'session-started'),
  ]);
  await data.insert('polls', [
    search(20, 21),
    search(40, 41),
    search(44, 45, { outcome: 'failed' }),
    search(46, 47, { outcome: 'incomplete' }),
    search(48, 49, { operation: 'new-events' }),
    search(49, 52),
    search(340, 341),
    search(345, 346),
    search(3601, 3602),
    search(11_000, 11_001, { outcome: 'failed' }),
  ]);
  const seen = (event: string, at: number, created?: number) =>
    eventSeen(event, time(at), created === undefined ? {} : { created_at: time(created) });
  await data.insert('event_observations', [
    seen('created', 51, 50),
    seen('created', 52, 50),
    seen('undated', 51),
    seen('observed until it closed', 51, 50),
    seen('old', 0.5, -1000),
    seen('old and undated', 0.5),
    seen('other clock', 51, 60),
    seen('listed late', 51, 30),
    seen('created long before', 342, 30),
    seen('found by the next session', 301, 250),
    seen('closed at the end of an hour', 3599),
    seen('found hours after a search', 10_900),
  ]);
});

describe('an event is open from', () => {
  it('its creation, where the exchange says it', async () => {
    expect(await openFrom('created')).toBe(50);
    expect(await openFrom('found by the next session')).toBe(250);
  });

  it('the start of the last complete search that did not list it', async () => {
    expect(await openFrom('undated')).toBe(40);
    expect(await openFrom('created long before')).toBe(340);
    expect(await openFrom('closed at the end of an hour')).toBe(345);
    expect(await openFrom('found hours after a search')).toBe(3601);
  });

  it('its creation, also when a search that began soon afterwards did not list it: its response may have been old', async () => {
    expect(await openFrom('listed late')).toBe(30);
  });

  it('the start of the first session, if it opened before', async () => {
    expect(await openFrom('old')).toBe(0);
    expect(await openFrom('old and undated')).toBe(0);
  });

  it('the time of its first listing, if the clock of the exchange is ahead', async () => {
    expect(await openFrom('other clock')).toBe(51);
  });

  it('and until the end of the first search that did not list it, unless it was observed until then', async () => {
    const openTo = async (event: string) => {
      const [row] = await data.ask<{ closed: number }>(
        `SELECT round(toUnixTimestamp64Micro(open_to) / 1e6 - 1767614400, 6) AS closed FROM event_lifetimes WHERE event = '${event}' AND stream = 'chance'`,
      );
      return row?.closed;
    };
    // Last listed at 51, while a search ran from 49 to 52; the next one began at 340.
    expect(await openTo('undated')).toBe(341);
    expect(await openTo('observed until it closed')).toBe(51);
    expect(await openTo('closed at the end of an hour')).toBe(3602);
    const gaps = await data.ask(
      `SELECT cause FROM gaps WHERE event = 'observed until it closed' AND stream = 'chance'`,
    );
    expect(gaps).toEqual([{ cause: 'not yet subscribed' }]);
  });

  it('and is in a gap until its initial snapshot', async () => {
    const gaps = await data.ask(
      `SELECT round(toUnixTimestamp64Micro(begins_at) / 1e6 - 1767614400, 6) AS b,
         round(toUnixTimestamp64Micro(ends_at) / 1e6 - 1767614400, 6) AS e, cause
       FROM gaps WHERE event IN ('created', 'undated') AND stream = 'chance' AND cause = 'not yet subscribed' ORDER BY b`,
    );
    expect(gaps).toEqual([
      { b: 40, e: 53, cause: 'not yet subscribed' },
      { b: 50, e: 53, cause: 'not yet subscribed' },
    ]);
  });
});
