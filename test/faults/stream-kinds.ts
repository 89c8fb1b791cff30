import { setTimeout as delay } from 'node:timers/promises';
import { timeSql } from './clocks.js';
import type { CausedFault, FaultTarget, Kind } from './kind.js';
import type { EventStreamName, TradedEvent } from './market.js';

/** Time for a probe to remain unanswered, and to be reported, beyond the interval of probes, also on a busy machine. */
const ANSWER_MS = 20_000;
/** Longer than the collector waits for the response to a probe, also on a busy machine. */
const LATE_HISTORY_MS = 20_000;
const SKEW_MS = 3_600_000;
const AGAIN_MS = 1000;

const collectorEvent = (where: string) => `SELECT 1 FROM collector_events WHERE ${where}`;

/** An invalid entry of a frame has a dead letter with the entry alone: the event is in the frame. */
const deadLetter = (stream: EventStreamName, { eventId }: TradedEvent, at: number) => `
  SELECT 1 FROM dead_letters WHERE kind = '${stream}.frame' AND received_at >= ${timeSql(at)}
    AND (_log, _partition, _offset) IN (
      SELECT _log, _partition, _offset FROM raw_records
      WHERE kind = '${stream}.frame' AND received_at >= ${timeSql(at)} AND position(body, '${eventId}') > 0)`;

const mismatch = ({ eventId }: TradedEvent, at: number) =>
  `SELECT 1 FROM audit_mismatches WHERE event = '${eventId}' AND audited_at >= ${timeSql(at)}`;

const repeated =
  (table: 'price_ticks' | 'chance_points') =>
  ({ eventId }: TradedEvent, at: number) =>
    `SELECT 1 FROM ${table} WHERE event = '${eventId}' AND repeated AND received_at >= ${timeSql(at)}`;

const backfilled = ({ marketId }: TradedEvent, at: number) => `
  SELECT 1 FROM chance_backfills WHERE market = '${marketId}'
    AND occurred_at BETWEEN toStartOfSecond(${timeSql(at)}) AND ${timeSql(at + 2_000_000)}`;

type Cause = (target: FaultTarget) => Promise<CausedFault>;

/** Arms a fault of the event; `evidence` gets its time. */
const armed =
  (stream: EventStreamName, fault: object, evidence?: (event: TradedEvent, at: number) => string): Cause =>
  async ({ stage, event }) => {
    const at = await stage.fault({ stream, eventId: event.eventId, ...fault });
    return { at, ...(evidence ? { evidence: evidence(event, at) } : {}) };
  };

/** Everything that concerns the connection of the event. */
const ofConnection =
  (stream: EventStreamName, fault: object, types: string): Cause =>
  async ({ stage, event, connectionId }) => ({
    at: await stage.fault({ stream, eventId: event.eventId, ...fault }),
    evidence: collectorEvent(`type IN (${types}) AND connection_id = '${connectionId}'`),
  });

/** Stops trading in the event first; `change` makes the change to which the fault applies. */
const whileQuiet =
  (
    fault: object,
    change: (target: FaultTarget) => Promise<(() => Promise<void>) | undefined>,
    evidence: (event: TradedEvent, at: number) => string,
  ): Cause =>
  async (target) => {
    const { stage, event } = target;
    await stage.market.pause(event);
    const id = await stage.arm({ stream: 'order-book', eventId: event.eventId, ...fault });
    let undo = await change(target);
    let at = await stage.appliedAt(id);
    while (at === undefined) {
      // Nobody was subscribed at that moment.
      await delay(AGAIN_MS);
      await undo?.();
      undo = await change(target);
      at = await stage.appliedAt(id);
    }
    const end = async () => {
      await undo?.();
      stage.market.resume(event);
    };
    return { at, evidence: evidence(event, at), end };
  };

/** Kinds that both streams have. */
function commonKinds(stream: EventStreamName): Kind[] {
  const kind = (name: string, expected: Kind['expected'], cause: Cause): Kind => ({
    name: `${name}, ${stream}`,
    stream,
    expected,
    cause,
  });
  const price = stream === 'order-book' ? 'b' : 'p';
  const unreadable = (event: TradedEvent, at: number) => deadLetter(stream, event, at);
  return [
    kind('disconnect', 'detected', ofConnection(stream, { kind: 'drop-connection' }, "'disconnected'")),
    kind(
      'stale stream',
      'detected',
      ofConnection(stream, { kind: 'freeze', connection: true }, "'stale', 'disconnected'"),
    ),
    kind('one stale event', 'detected', async ({ stage, event, connectionId }) => {
      const { silenceMs, auditMs } = stage.pace;
      const ms = (stream === 'order-book' ? auditMs : silenceMs) + ANSWER_MS;
      return {
        at: await stage.fault({ kind: 'freeze', stream, eventId: event.eventId, ms }),
        evidence: collectorEvent(`type = 'stale' AND connection_id = '${connectionId}' AND event = '${event.eventId}'`),
      };
    }),
    kind('malformed frame', 'detected', armed(stream, { kind: 'malformed-frame' }, unreadable)),
    kind('renamed field', 'detected', armed(stream, { kind: 'rename-field', field: price }, unreadable)),
    // The interface says that prices are numbers: a text is not guessed at, it is a dead letter.
    kind('number as text', 'detected', armed(stream, { kind: 'number-as-text', field: price }, unreadable)),
    kind('oversized frame', 'detected', armed(stream, { kind: 'oversized-frame' }, unreadable)),
  ];
}

const ORDER_BOOK_KINDS: readonly Omit<Kind, 'stream'>[] = [
  {
    name: 'skipped delta, then none, order-book',
    expected: 'detected',
    cause: whileQuiet({ kind: 'skip-delta' }, ({ stage, event }) => stage.market.bid(event), mismatch),
  },
  {
    name: 'skipped delta, then others, order-book',
    expected: 'possible',
    cause: armed('order-book', { kind: 'skip-delta' }, mismatch),
  },
  {
    name: 'duplicated delta, order-book',
    expected: 'detected',
    cause: armed('order-book', { kind: 'duplicate-delta' }, repeated('price_ticks')),
  },
  {
    name: 'reordered deltas, then none, order-book',
    expected: 'detected',
    cause: whileQuiet(
      { kind: 'reorder-deltas' },
      async ({ stage, event }) => {
        await stage.market.trade(event);
        return undefined;
      },
      mismatch,
    ),
  },
];

const CHANCE_KINDS: readonly Omit<Kind, 'stream'>[] = [
  {
    name: 'skipped delta, chance',
    expected: 'detected',
    cause: armed('chance', { kind: 'skip-delta' }, backfilled),
  },
  {
    name: 'duplicated delta, chance',
    expected: 'detected',
    cause: armed('chance', { kind: 'duplicate-delta' }, repeated('chance_points')),
  },
  { name: 'reordered deltas, chance', expected: 'unchecked', cause: armed('chance', { kind: 'reorder-deltas' }) },
  {
    name: 'late HISTORY, chance',
    expected: 'detected',
    cause: armed('chance', { kind: 'late-history', ms: LATE_HISTORY_MS }, ({ eventId }, at) =>
      collectorEvent(`type = 'stale' AND stream = 'chance' AND event = '${eventId}' AND recorded_at >= ${timeSql(at)}`),
    ),
  },
  {
    name: 'clock skew of an hour, chance',
    expected: 'detected',
    cause: armed('chance', { kind: 'clock-skew', ms: SKEW_MS }, backfilled),
  },
];

export const STREAM_KINDS: readonly Kind[] = [
  ...commonKinds('order-book'),
  ...ORDER_BOOK_KINDS.map((kind) => ({ ...kind, stream: 'order-book' }) as const),
  ...commonKinds('chance'),
  ...CHANCE_KINDS.map((kind) => ({ ...kind, stream: 'chance' }) as const),
];
