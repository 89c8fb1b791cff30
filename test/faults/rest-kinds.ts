import { setTimeout as delay } from 'node:timers/promises';
import { timeSql } from './clocks.js';
import type { CausedFault, FaultTarget, Kind } from './kind.js';

/** More requests than are made until the fault is detected. */
const UNTIL_DETECTED = 1000;
/** Answers that are stale: of a few seconds of two polls per second. */
const STALE_ANSWERS = 8;
/** Both polls have run once: their answers are repeated. */
const TWO_POLLS_MS = 2200;

const failedPoll = (at: number) =>
  `SELECT 1 FROM polls WHERE outcome != 'complete' AND finished_at >= ${timeSql(at)} AND operation IN ('event-search', 'new-events')`;

const storm =
  (fault: object): Kind['cause'] =>
  async ({ stage }) => {
    const id = await stage.arm({ stream: 'rest', count: UNTIL_DETECTED, ...fault });
    const at = await stage.applied(id);
    return { at, evidence: failedPoll(at), end: () => stage.disarm(id) };
  };

/** An event opens while event search is stale. */
async function staleSearch({ stage, random }: FaultTarget): Promise<CausedFault> {
  const id = await stage.arm({ kind: 'stale-rest', stream: 'rest', count: STALE_ANSWERS });
  await delay(TWO_POLLS_MS);
  const event = await stage.market.open(`Late ${random.integer(0, 1e9)}`);
  const at = Date.now() * 1000;
  const evidence = `SELECT 1 FROM collector_events WHERE type = 'subscribed' AND event = '${event.eventId}'
    GROUP BY event HAVING uniqExact(stream) = 2`;
  return { at, evidence, events: [event], end: () => stage.disarm(id) };
}

export const REST_KINDS: readonly Kind[] = [
  { name: '429 storm, REST', expected: 'detected', cause: storm({ kind: 'http-429' }) },
  { name: '500s, REST', expected: 'detected', cause: storm({ kind: 'http-500' }) },
  { name: 'truncated bodies, REST', expected: 'detected', cause: storm({ kind: 'truncated-body' }) },
  {
    name: 'renamed field, REST',
    expected: 'detected',
    cause: async ({ stage }) => {
      const at = await stage.fault({ stream: 'rest', kind: 'rename-field', field: 'content' });
      return {
        at,
        evidence: `SELECT 1 FROM dead_letters WHERE kind = 'reference.events' AND received_at >= ${timeSql(at)}`,
      };
    },
  },
  { name: 'stale REST, an event opens', expected: 'detected', cause: staleSearch },
];
