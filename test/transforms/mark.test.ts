import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mark } from '../../core/index.js';
import { marks } from '../../transforms/tables/marks.js';
import { polls } from '../../transforms/tables/polls.js';
import { AT, EVENT, MARKET, SID, transformed } from './support.js';

const stream = { stream: 'order-book', connection: 'c1' } as const;

/** One of every type: a new type of mark does not compile until it is here. */
const EVERY: { readonly [T in Exclude<Mark['type'], 'poll'>]: Extract<Mark, { type: T }> } = {
  'session-started': { type: 'session-started', collector: 'a', version: '1', shard: '0/1' },
  alive: { type: 'alive', acked: { 'chancery.order-book': 17 } },
  'session-stopped': { type: 'session-stopped', cause: 'asked to' },
  connected: { type: 'connected', ...stream, url: 'ws://127.0.0.1/' },
  disconnected: { type: 'disconnected', ...stream, cause: 'reset' },
  subscribed: { type: 'subscribed', ...stream, event: EVENT, markets: [MARKET] },
  unsubscribed: { type: 'unsubscribed', ...stream, event: EVENT, cause: 'closed' },
  frozen: { type: 'frozen', ...stream, event: EVENT, since: AT - 5, cause: 'probe differs' },
  quiet: { type: 'quiet', ...stream, event: EVENT },
  repaired: { type: 'repaired', stream: 'chance', event: EVENT, market: MARKET, from: AT - 9, to: AT, poll: 'p1' },
};

describe('a mark', () => {
  it.each(Object.values(EVERY).map((mark) => [mark.type, mark] as const))(
    'of type %s is a row of marks',
    (type, mark) => {
      const output = transformed('mark', mark);
      expect(output.deadLetters).toEqual([]);
      expect(output.rowsOf(marks)).toEqual([expect.objectContaining({ markedAt: AT, sid: SID, n: 1, type })]);
    },
  );

  it('keeps what it says', () => {
    const row = (mark: Mark) => transformed('mark', mark).rowsOf(marks)[0];
    expect(row(EVERY.subscribed)).toMatchObject({
      stream: 'order-book',
      connection: 'c1',
      eventId: EVENT,
      marketIds: [MARKET],
    });
    expect(row(EVERY.frozen)).toMatchObject({ since: AT - 5, cause: 'probe differs' });
    expect(row(EVERY.repaired)).toMatchObject({ marketId: MARKET, from: AT - 9, to: AT, poll: 'p1' });
    expect(row(EVERY.alive)).toMatchObject({ acked: { 'chancery.order-book': 17 } });
  });

  it('is a row of polls when it is the receipt of one', () => {
    const receipt: Mark = {
      type: 'poll',
      poll: 'p1',
      operation: 'searchEvents',
      subject: '',
      startedAt: AT - 1000,
      expected: null,
      got: 40,
      unique: 39,
      pages: 2,
      truncated: false,
      outcome: 'complete',
      cause: '',
    };
    const output = transformed('mark', receipt);
    const { type, ...said } = receipt;
    expect(output.rowsOf(polls)).toEqual([{ ...said, sid: SID, finishedAt: AT }]);
    expect(output.rowsOf(marks)).toEqual([]);
  });

  it.each([
    ['an unknown type', { type: 'sleepy' }, 'type'],
    ['a missing field', { type: 'frozen', ...stream, event: EVENT, cause: '' }, 'since'],
    ['a number that is none', { type: 'alive', acked: { t: -1 } }, 'acked.t'],
    ['no object', 5, ''],
  ])('is a dead letter with %s', (_, body, place) => {
    const output = transformed('mark', body);
    expect(output.deadLetters.map((letter) => letter.place)).toEqual([place]);
    expect(output.rowsOf(marks)).toEqual([]);
  });

  it('never throws, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(EVERY), 'poll'), (body, type) => {
        transformed('mark', typeof body === 'object' && body !== null ? { ...body, type } : body);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
