import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Random } from '../../core/index.js';
import type { EventView } from '../../exchange/engine/index.js';
import { openEvent } from '../exchange/server-support.js';
import { fastest } from '../support/fastest.js';
import { type CollectorRig, exchangeWith, NEVER, startCollector } from './rig.js';

const STREAMS = ['order-book', 'chance'] as const;
/** The default; the complete search runs once, at the start. */
const settings = { newEventsSchedule: '* * * * * *', eventsSchedule: NEVER, requestsPerSecond: 20 };

const subscriptions = (rig: CollectorRig, count: number) =>
  rig.waitForEvents('subscribed', (found) => found.length >= count);

const WITHIN_S = 2;

/** The time from the opening of an event to its subscription that 95 % of 80 subscriptions have, seconds. */
async function discoverySeconds(seed: number): Promise<number> {
  const { server } = await exchangeWith(20);
  const rig = await startCollector(server.url, { settings });
  await subscriptions(rig, 40);
  const random = new Random(seed, 'new events');
  const opened: EventView[] = [];
  for (let n = 0; n < 40; n++) {
    await delay(random.next() * 500);
    opened.push(openEvent(server.core, `new ${n}`, [0.4, 0.6]));
  }
  const found = await subscriptions(rig, 120);
  await rig.stop();
  const delays = opened.flatMap(({ eventId, createdAt }) =>
    STREAMS.map((stream) => {
      const first = found.find((m) => m.event === eventId && m.stream === stream);
      return ((first?.at ?? Number.POSITIVE_INFINITY) - createdAt) / 1e6;
    }),
  );
  const sorted = delays.sort((a, b) => a - b);
  expect(sorted[0]).toBeGreaterThan(0);
  return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.POSITIVE_INFINITY;
}

describe('the poll of new events', () => {
  it('subscribes 95 % of the events that open, on both streams, within 2 s', async () => {
    expect(await fastest(WITHIN_S, discoverySeconds)).toBeLessThanOrEqual(WITHIN_S);
  });
});
