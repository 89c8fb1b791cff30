import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CollectorEvent, ENDS_OBSERVED_RANGE } from '../../core/index.js';
import { auditMismatches, audits } from '../../transforms/tables/audits.js';
import { collectorEvents } from '../../transforms/tables/collector-events.js';
import { polls } from '../../transforms/tables/polls.js';
import { AT, EVENT, MARKET, SID, transformed } from './support.js';

const stream = { stream: 'order-book', connectionId: 'c1' } as const;

/** One of every type: a new type of event does not compile until it is added here. */
const EVERY: {
  readonly [T in Exclude<CollectorEvent['type'], 'poll' | 'audited'>]: Extract<CollectorEvent, { type: T }>;
} = {
  'session-started': { type: 'session-started', collector: 'a', version: '1', shard: '0/1' },
  heartbeat: {
    type: 'heartbeat',
    acknowledged: { 'chancery.order-book': 17 },
    lastFrames: { '3b1f0000-0000-4000-8000-000000000002': 1_767_616_496_000_000 },
  },
  'session-stopped': { type: 'session-stopped', cause: 'clean shutdown' },
  connected: { type: 'connected', ...stream, url: 'ws://127.0.0.1/' },
  disconnected: { type: 'disconnected', ...stream, cause: 'reset' },
  subscribed: { type: 'subscribed', ...stream, event: EVENT, markets: [MARKET] },
  unsubscribed: { type: 'unsubscribed', ...stream, event: EVENT, cause: 'closed' },
  stale: { type: 'stale', ...stream, event: EVENT, lastVerifiedAt: AT - 5, cause: 'probe differs' },
  verified: { type: 'verified', ...stream, event: EVENT },
  backfilled: {
    type: 'backfilled',
    stream: 'chance',
    event: EVENT,
    market: MARKET,
    rangeFrom: AT - 9,
    rangeTo: AT,
    fetchedFrom: AT - 20,
    pollId: 'p1',
  },
};

const AUDITED: Extract<CollectorEvent, { type: 'audited' }> = {
  type: 'audited',
  ...stream,
  event: EVENT,
  reason: 'interval',
  lastEqualAt: AT - 9,
  changes: 7,
  compared: 3,
  changed: 2,
  missed: 2,
  late: 0,
  mismatches: [
    { market: MARKET, ours: { last: 0.5, bid: 0.4, ask: 1 }, theirs: { last: 0.6, bid: 0, ask: 0.7 } },
    { market: 'other', ours: { last: 0.1, bid: 0, ask: 1 }, theirs: { last: 0.2, bid: 0, ask: 1 } },
  ],
};

describe('a collector event', () => {
  it('that ends an observed range is one that the view `subscriptions` reads', () => {
    const [, types = ''] =
      /WHERE type IN \(('subscribed'[^)]*)\)/.exec(readFileSync('sql/views/quality/subscriptions.sql', 'utf8')) ?? [];
    expect(types.split(', ').toSorted()).toEqual(
      ['subscribed', ...ENDS_OBSERVED_RANGE].map((type) => `'${type}'`).toSorted(),
    );
  });

  it.each(Object.values(EVERY).map((event) => [event.type, event] as const))(
    'of type %s is a row of collector_events',
    (_, event) => {
      const output = transformed('collector.event', event);
      expect(output.deadLetters).toEqual([]);
      expect(output.rowsOf(collectorEvents)).toEqual([{ recordedAt: AT, sessionId: SID, sequence: 1, event }]);
    },
  );

  it('has a column for each of its fields, in snake case', () => {
    const columns = new Set(collectorEvents.definition.columns.map(({ name }) => name));
    for (const event of Object.values(EVERY)) {
      for (const field of Object.keys(event)) {
        expect(columns, field).toContain(field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
      }
    }
  });

  it('is a row of polls when it is the receipt of one', () => {
    const receipt: CollectorEvent = {
      type: 'poll',
      pollId: 'p1',
      operation: 'searchEvents',
      subject: '',
      startedAt: AT - 1000,
      expectedItems: null,
      receivedItems: 40,
      distinctItems: 39,
      pages: 2,
      truncated: false,
      outcome: 'complete',
      cause: '',
    };
    const output = transformed('collector.event', receipt);
    expect(output.rowsOf(polls)).toEqual([{ sessionId: SID, finishedAt: AT, receipt }]);
    expect(output.rowsOf(collectorEvents)).toEqual([]);
  });

  it('is a row of audits, and one of audit_mismatches per unequal market, when it is an audit', () => {
    const output = transformed('collector.event', AUDITED);
    const audit = { auditedAt: AT, sessionId: SID, report: AUDITED };
    expect(output.rowsOf(audits)).toEqual([audit]);
    const none = { bid: null, ask: null };
    expect(output.rowsOf(auditMismatches)).toEqual([
      {
        ...audit,
        marketId: MARKET,
        ours: { last: 0.5, bid: 0.4, ask: null },
        theirs: { last: 0.6, bid: null, ask: 0.7 },
      },
      { ...audit, marketId: 'other', ours: { last: 0.1, ...none }, theirs: { last: 0.2, ...none } },
    ]);
    expect([output.rowsOf(collectorEvents), output.deadLetters]).toEqual([[], []]);
  });

  it.each([
    ['an unknown type', { type: 'sleepy' }, 'type'],
    ['a missing field', { type: 'stale', ...stream, event: EVENT, cause: '' }, 'lastVerifiedAt'],
    ['a number that is none', { type: 'heartbeat', acknowledged: { t: -1 }, lastFrames: {} }, 'acknowledged.t'],
    ['no object', 5, ''],
  ])('is a dead letter with %s', (_, body, path) => {
    const output = transformed('collector.event', body);
    expect(output.deadLetters.map((letter) => letter.jsonPath)).toEqual([path]);
    expect(output.rowsOf(collectorEvents)).toEqual([]);
  });

  it('never throws, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(EVERY), 'poll', 'audited'), (body, type) => {
        transformed('collector.event', typeof body === 'object' && body !== null ? { ...body, type } : body);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
