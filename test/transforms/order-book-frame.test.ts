import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AT, EVENT, MARKET, OTHER_MARKET, transformed } from './support.js';

const entry = { o: MARKET, c: 0.5, b: 0.49, a: 0.51 };
const frame = (d: unknown, more: object = {}) => ({ t: 'PRICES_DATA_DELTA', e: EVENT, d, ...more });

describe('a frame of the order book stream', () => {
  it('becomes a tick per entry, in the order of the frame', () => {
    const output = transformed('order-book.frame', frame([entry, { o: OTHER_MARKET, c: 0.1, b: 0.02, a: 0.3 }]));
    const common = { receivedAt: AT, eventId: EVENT, source: 'delta', repeated: false };
    expect(output.priceTicks).toEqual([
      { ...common, marketId: MARKET, last: 0.5, bid: 0.49, ask: 0.51 },
      { ...common, marketId: OTHER_MARKET, last: 0.1, bid: 0.02, ask: 0.3 },
    ]);
    expect(output.deadLetters).toEqual([]);
    expect(output.extraFields).toBe(0);
  });

  it('has the source of its prices: snapshot or delta', () => {
    const output = transformed('order-book.frame', { ...frame([entry]), t: 'PRICES_DATA' });
    expect(output.priceTicks.map((tick) => tick.source)).toEqual(['snapshot']);
  });

  it('has the repeated entries that its request names, counted among the valid ones', () => {
    const repeatedIn = (repeated: unknown, t = 'PRICES_DATA_DELTA') => {
      const body = { ...frame([entry, { ...entry, b: '0.49' }, entry, entry]), t };
      return transformed('order-book.frame', body, { request: { repeated } }).priceTicks.map((tick) => tick.repeated);
    };
    expect(repeatedIn([1])).toEqual([false, true, false]);
    expect(repeatedIn([0, 2, 7])).toEqual([true, false, true]);
    expect(repeatedIn([1], 'PRICES_DATA')).toEqual([false, false, false]);
    for (const invalid of [undefined, null, 1, '1', { 1: true }, ['1']]) {
      expect(repeatedIn(invalid)).toEqual([false, false, false]);
    }
  });

  it.each([
    ['no bid', { b: 0 }, null, 0.51],
    ['no ask', { a: 1 }, 0.49, null],
    ['an empty book', { b: 0, a: 1 }, null, null],
    ['sides the other way round', { b: 1, a: 0 }, null, null],
    ['prices of the edge', { b: 0.01, a: 0.99 }, 0.01, 0.99],
  ])('has NULL for an empty side: %s', (_, sides, bid, ask) => {
    const [tick] = transformed('order-book.frame', frame([{ ...entry, ...sides }])).priceTicks;
    expect(tick).toMatchObject({ bid, ask });
  });

  it('becomes a dead letter for an invalid entry and ticks for the others', () => {
    const bad = { ...entry, b: '0.49' };
    const output = transformed('order-book.frame', frame([entry, bad, { ...entry, c: 1.5 }, 7, entry]));
    expect(output.priceTicks).toHaveLength(2);
    expect(output.deadLetters).toEqual([
      {
        jsonPath: 'd[1].b',
        reason: 'expected a number, got string "0.49"',
        payload: JSON.stringify(bad),
        payloadLength: JSON.stringify(bad).length,
      },
      expect.objectContaining({ jsonPath: 'd[2].c', reason: 'expected at most 1, got number 1.5' }),
      expect.objectContaining({ jsonPath: 'd[3]', reason: 'expected an object, got number 7', payload: '7' }),
    ]);
  });

  it.each(['SUBSCRIBED', 'UNSUBSCRIBED', 'PING'])('is nothing when it is the control message %s', (t) => {
    const output = transformed('order-book.frame', { t, e: EVENT });
    expect([output.priceTicks, output.deadLetters, output.exchangeErrors]).toEqual([[], [], 0]);
  });

  it('is counted when it is an error of the exchange', () => {
    const output = transformed('order-book.frame', { t: 'ERROR', e: EVENT, r: 'unknown event' });
    expect([output.deadLetters, output.exchangeErrors]).toEqual([[], 1]);
  });

  it.each([
    ['an unknown type', { t: 'NEWS', e: EVENT }, 't', 'unknown message type NEWS'],
    ['no list', { t: 'PRICES_DATA', e: EVENT, d: {} }, 'd', 'expected an array, got an object'],
    ['no event', { t: 'PRICES_DATA', d: [] }, 'e', 'expected a string, got nothing'],
    ['an array', [1], '', 'expected an object, got an array'],
  ])('is a dead letter when it is %s', (_, body, jsonPath, reason) => {
    const output = transformed('order-book.frame', body);
    expect(output.deadLetters).toEqual([expect.objectContaining({ jsonPath, reason, payload: JSON.stringify(body) })]);
  });

  it('is a dead letter with its text when it is not JSON', () => {
    const output = transformed('order-book.frame', '{"t":', { encoding: 'text' });
    expect(output.deadLetters).toEqual([
      { jsonPath: 'body', reason: 'the received body is not JSON', payload: '{"t":', payloadLength: 5 },
    ]);
  });

  it.each([
    ['its declared length', 16_777_300, 'frame too large', 16_777_300],
    ['no length', null, 'frame too large, of unknown length', 2],
    ['an invalid length', -1, 'frame too large, of unknown length', 2],
  ])(
    'is a dead letter with its first bytes and %s when it was too large',
    (_, declaredBytes, reason, payloadLength) => {
      const request = { stream: 'order-book', connection: 'c-1', oversized: { declaredBytes } };
      const output = transformed('order-book.frame', '[]', { encoding: 'text', request });
      expect(output.deadLetters).toEqual([{ jsonPath: 'body', reason, payload: '[]', payloadLength }]);
    },
  );

  it('counts undocumented fields', () => {
    const output = transformed('order-book.frame', frame([{ ...entry, x: 1 }, entry], { r: null, seq: 9, y: {} }));
    expect(output.extraFields).toBe(3);
    expect(output.priceTicks).toHaveLength(2);
  });

  it('has a limited number of dead letters, the last of which counts the others', () => {
    const output = transformed('order-book.frame', frame(Array.from({ length: 5000 }, () => 0)));
    expect(output.deadLetters).toHaveLength(101);
    expect(output.deadLetters.at(-1)?.reason).toBe('4900 more parts of this record could not be understood');
  });

  it('has the length of the record in the dead letter that counts the others', () => {
    const body = frame(Array.from({ length: 5000 }, () => 0));
    const output = transformed('order-book.frame', body);
    expect(output.deadLetters.at(-1)).toMatchObject({ payload: '', payloadLength: JSON.stringify(body).length });
  });

  it('has a dead letter with the text of a record that is nested very deep, and its true length', () => {
    const text = '['.repeat(200_000) + ']'.repeat(200_000);
    const output = transformed('order-book.frame', JSON.parse(text), {}, text);
    expect(output.deadLetters).toMatchObject([{ payload: '['.repeat(4096), payloadLength: 400_000 }]);
  });

  it('has a dead letter with the beginning of an invalid entry that is nested very deep', () => {
    const text = JSON.stringify(frame(['deep'])).replace('"deep"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const output = transformed('order-book.frame', JSON.parse(text), {}, text);
    expect(output.deadLetters).toMatchObject([{ payload: '['.repeat(4096), payloadLength: 200_000 }]);
  });

  it('never shows a number that was not received', () => {
    const text = JSON.stringify(frame([{ ...entry, c: 'big' }, entry])).replace('"big"', '1e999');
    const output = transformed('order-book.frame', JSON.parse(text), {}, text);
    expect(output.deadLetters[0]?.payload).toBe(`{"o":"${MARKET}","c":1e999,"b":0.49,"a":0.51}`);
  });

  it('counts undocumented fields up to 1000 per entry', () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x${n}`, n]));
    expect(transformed('order-book.frame', frame([{ ...entry, ...fields }])).extraFields).toBe(1000);
  });

  it('truncates long payloads and reports their length', () => {
    const output = transformed('order-book.frame', frame([{ o: MARKET, junk: 'x'.repeat(10_000) }]));
    expect(output.deadLetters[0]?.payload).toHaveLength(4096);
    expect(output.deadLetters[0]?.payloadLength).toBeGreaterThan(10_000);
  });

  it('rejects IDs that are too long', () => {
    const output = transformed('order-book.frame', frame([{ ...entry, o: 'x'.repeat(257) }, entry]));
    expect(output.priceTicks).toHaveLength(1);
    expect(output.deadLetters).toEqual([
      expect.objectContaining({ jsonPath: 'd', reason: 'expected an ID of at most 256 characters, got 257' }),
    ]);
  });

  it('never throws, for any JSON, and is always a tick, a control message or a dead letter', () => {
    const prices = fc.record(
      { o: fc.oneof(fc.constant(MARKET), fc.jsonValue()), c: fc.double({ min: -1, max: 2 }), b: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const frames = fc.oneof(
      fc.jsonValue(),
      fc.record({
        t: fc.constantFrom('PRICES_DATA', 'PRICES_DATA_DELTA', 'PING', 'X'),
        e: fc.constantFrom(EVENT, '', null),
        d: fc.oneof(fc.jsonValue(), fc.array(fc.oneof(prices, fc.jsonValue(), fc.constant(entry)))),
      }),
    );
    fc.assert(
      fc.property(frames, (body) => {
        const output = transformed('order-book.frame', body);
        const isPrices =
          typeof body === 'object' && body !== null && !Array.isArray(body) && String(body['t']).startsWith('PRICES');
        const list = isPrices ? (body as { d: unknown }).d : undefined;
        const told = output.priceTicks.length + output.deadLetters.length;
        if (isPrices) expect(told).toBe(Array.isArray(list) && (body as { e: unknown }).e ? list.length : 1);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
