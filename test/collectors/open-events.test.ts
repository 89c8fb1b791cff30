import { describe, expect, it } from 'vitest';
import type { Event } from '../../client/index.js';
import { OpenEvents } from '../../collectors/open-events.js';
import { ManualClock } from '../support/clocks.js';

const event = (eventId: string, ...marketIds: string[]) =>
  ({ eventId, markets: marketIds.map((marketId) => ({ marketId })) }) as unknown as Event;

/** The calls of the handlers, as text. */
function follow() {
  const calls: string[] = [];
  const handlers = {
    onOpen: ({ eventId, markets }: Event) => calls.push(`open ${eventId} ${markets.length}`),
    onClosed: (eventId: string) => calls.push(`closed ${eventId}`),
  };
  const clock = new ManualClock();
  return { events: new OpenEvents(handlers, clock), clock, calls };
}

describe('the open events', () => {
  it('are opened once, and again with other markets', () => {
    const { events, clock, calls } = follow();
    for (const listed of [event('a', 'm'), event('a', 'm'), event('a', 'm', 'n')]) {
      events.update({ events: [listed], complete: false, startedAtMs: clock.elapsedMs() });
    }
    expect(calls).toEqual(['open a 1', 'open a 2']);
  });

  it('are closed by a complete search that does not list them', async () => {
    const { events, clock, calls } = follow();
    events.update({ events: [event('a', 'm')], complete: false, startedAtMs: clock.elapsedMs() });
    events.update({ events: [], complete: false, startedAtMs: clock.elapsedMs() });
    await clock.advance(10_000);
    expect(calls).toEqual(['open a 1']);
    events.update({ events: [], complete: true, startedAtMs: clock.elapsedMs() });
    await clock.advance(10_000);
    expect(calls).toEqual(['open a 1', 'closed a']);
  });

  it('are not closed by a search that began before they were found', async () => {
    const { events, clock, calls } = follow();
    const startedAtMs = clock.elapsedMs();
    await clock.advance(1);
    events.update({ events: [event('a', 'm')], complete: false, startedAtMs: clock.elapsedMs() });
    events.update({ events: [], complete: true, startedAtMs });
    await clock.advance(10_000);
    expect(calls).toEqual(['open a 1']);
    expect([...events.ids]).toEqual(['a']);
  });
});
