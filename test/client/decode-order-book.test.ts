import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeOrderBookMessage } from '../../client/index.js';
import {
  explainIssue,
  orderBookEnvelopeSchema,
  priceEntrySchema,
  pricesMessageSchema,
} from '../../client/wire/index.js';

const price = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  fc.constantFrom<unknown>(0, 1, -0, -0.0001, 1.0001, 5e-324, 1e308, Number.POSITIVE_INFINITY, Number.NaN, '0.5', null),
  fc.jsonValue(),
);
const entry = fc.oneof(
  { weight: 8, arbitrary: fc.record({ o: fc.oneof(fc.uuid(), fc.string()), c: price, b: price, a: price }) },
  fc.record({ o: fc.anything(), c: price, b: price, a: price, x: fc.jsonValue() }, { requiredKeys: [] }),
  fc.jsonValue(),
);
const frame = fc.record(
  {
    t: fc.constantFrom('PRICES_DATA', 'PRICES_DATA_DELTA'),
    e: fc.oneof({ weight: 6, arbitrary: fc.uuid() }, fc.jsonValue()),
    d: fc.oneof({ weight: 6, arbitrary: fc.array(entry, { maxLength: 6 }) }, fc.jsonValue()),
  },
  { requiredKeys: ['t'] },
);

describe('decoding the order book stream', () => {
  it('decodes the valid entries of a snapshot and lists the invalid ones with path and reason [2/price-entry]', () => {
    const good = { o: 'm1', c: 0.5, b: 0.49, a: 0.51, extra: true };
    const message = decodeOrderBookMessage({
      t: 'PRICES_DATA',
      e: 'e1',
      d: [good, { o: 'm2', c: '0.5', b: 0, a: 1 }, { o: 'm3', c: 0.5, b: 0, a: 1.2 }, null, { o: 'm4', c: 0, b: 0 }],
    });
    expect(message).toEqual({
      type: 'prices',
      snapshot: true,
      eventId: 'e1',
      prices: [{ marketId: 'm1', chance: 0.5, bestBid: 0.49, bestAsk: 0.51 }],
      invalidEntries: [
        { index: 1, path: 'd[1].c', reason: 'expected a number, got string "0.5"', value: expect.anything() },
        { index: 2, path: 'd[2].a', reason: 'expected at most 1, got number 1.2', value: expect.anything() },
        { index: 3, path: 'd[3]', reason: 'expected an object, got null', value: null },
        { index: 4, path: 'd[4].a', reason: 'expected a number, got nothing', value: expect.anything() },
      ],
      invalidEntriesOmitted: 0,
    });
  });

  it.each([
    [
      { t: 'SUBSCRIBED', e: 'e1' },
      { type: 'subscribed', eventId: 'e1' },
    ],
    [{ t: 'SUBSCRIBED' }, { type: 'subscribed', eventId: null }],
    [
      { t: 'UNSUBSCRIBED', e: 'e1', d: null, r: null },
      { type: 'unsubscribed', eventId: 'e1' },
    ],
    [{ t: 'PING' }, { type: 'ping' }],
    [
      { t: 'ERROR', r: 'no such event' },
      { type: 'error', reason: 'no such event', eventId: null },
    ],
    [{ r: 'bad JSON' }, { type: 'error', reason: 'bad JSON', eventId: null }],
    [
      { t: 'TRADES', e: 'e1', d: {} },
      { type: 'unknown', wireType: 'TRADES', eventId: 'e1' },
    ],
    [{}, { type: 'invalid', ok: false, path: 't', reason: 'expected a string, got nothing' }],
    [{ t: 7 }, { type: 'invalid', ok: false, path: 't', reason: 'expected a string, got number 7' }],
    [[], { type: 'invalid', ok: false, path: '', reason: 'expected an object, got an array' }],
    ['x', { type: 'invalid', ok: false, path: '', reason: 'expected an object, got string "x"' }],
    [
      { t: 'PRICES_DATA', d: [] },
      { type: 'invalid', ok: false, path: 'e', reason: 'expected a string, got nothing' },
    ],
    [
      { t: 'PRICES_DATA', e: 'e1', d: {} },
      { type: 'invalid', ok: false, path: 'd', reason: 'expected an array, got an object' },
    ],
  ])('understands %j', (body, message) => {
    expect(decodeOrderBookMessage(body)).toEqual(message);
  });

  it('accepts and rejects every price frame and entry as the zod schemas do, with the same reasons', () => {
    fc.assert(
      fc.property(frame, (body) => {
        const message = decodeOrderBookMessage(body);
        const envelope = pricesMessageSchema.safeParse(body);
        if (!envelope.success) {
          expect(message).toEqual({ type: 'invalid', ok: false, ...explainIssue(envelope.error, body) });
          return;
        }
        if (message.type !== 'prices') throw new Error(`decoded as ${message.type}`);
        const prices: unknown[] = [];
        const bad: unknown[] = [];
        for (const [index, value] of envelope.data.d.entries()) {
          const parsed = priceEntrySchema.safeParse(value);
          if (parsed.success) {
            const { o, c, b, a } = parsed.data;
            prices.push({ marketId: o, chance: c, bestBid: b, bestAsk: a });
          } else bad.push({ index, ...explainIssue(parsed.error, value, `d[${index}]`), value });
        }
        expect(message.prices).toEqual(prices);
        expect(message.invalidEntries).toEqual(bad);
        expect(message.eventId).toBe(envelope.data.e);
      }),
      { seed: 31, numRuns: 3000 },
    );
  });

  it('lists the first 100 invalid entries, counts the others, and decodes every valid one', () => {
    const good = { o: 'm1', c: 0.5, b: 0.4, a: 0.6 };
    for (const bad of [1, [], {}, { ...good, c: 2 }]) {
      const d: unknown[] = Array.from({ length: 5000 }, () => bad);
      d[4998] = good;
      const message = decodeOrderBookMessage({ t: 'PRICES_DATA', e: 'e1', d });
      if (message.type !== 'prices') throw new Error(`decoded as ${message.type}`);
      expect(message.invalidEntries.map(({ index }) => index)).toEqual(
        Array.from({ length: 100 }, (_, index) => index),
      );
      expect([message.invalidEntriesOmitted, message.prices.length]).toEqual([4899, 1]);
    }
  });

  it('calls a frame without prices invalid exactly when the envelope schema does [6/envelope]', () => {
    const body = fc.oneof(
      fc.record(
        {
          t: fc.oneof(fc.constantFrom('SUBSCRIBED', 'UNSUBSCRIBED', 'PING', 'ERROR'), fc.string(), fc.jsonValue()),
          e: fc.jsonValue(),
          r: fc.jsonValue(),
        },
        { requiredKeys: ['t'] },
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(body, (value) => {
        const message = decodeOrderBookMessage(value);
        const verdict = orderBookEnvelopeSchema.safeParse(value);
        // An error may have its text in `r` alone: the only difference from the envelope schema.
        if (message.type === 'error' && !verdict.success) return;
        expect(message.type === 'invalid').toBe(!verdict.success);
        if (!verdict.success) expect(message).toMatchObject(explainIssue(verdict.error, value));
      }),
      { seed: 32, numRuns: 2000 },
    );
  });

  it('never throws, for any parsed value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.object(), fc.anything()), (value) => {
        expect(decodeOrderBookMessage(value).type).toBeTypeOf('string');
        expect(decodeOrderBookMessage({ t: 'PRICES_DATA', e: 'e', d: value }).type).toBeTypeOf('string');
        expect(decodeOrderBookMessage({ t: 'PRICES_DATA', e: 'e', d: [value] }).type).toBe('prices');
      }),
      { seed: 33, numRuns: 2000 },
    );
  });
});
