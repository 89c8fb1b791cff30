import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AT, EVENT, MARKET, OTHER_MARKET, transformed } from './support.js';

const entry = { o: MARKET, c: 0.5, b: 0.49, a: 0.51 };
const frame = (d: unknown, more: object = {}) => ({ t: 'PRICES_DATA_DELTA', e: EVENT, d, ...more });

describe('a frame of the order book stream', () => {
  it('becomes a tick per entry, in the order of the frame', () => {
    const output = transformed('order-book.frame', frame([entry, { o: OTHER_MARKET, c: 0.1, b: 0.02, a: 0.3 }]));
    expect(output.priceTicks).toEqual([
      { receivedAt: AT, eventId: EVENT, marketId: MARKET, last: 0.5, bid: 0.49, ask: 0.51, source: 'delta' },
      { receivedAt: AT, eventId: EVENT, marketId: OTHER_MARKET, last: 0.1, bid: 0.02, ask: 0.3, source: 'delta' },
    ]);
    expect(output.deadLetters).toEqual([]);
    expect(output.extraFields).toBe(0);
  });

  it('says whether its prices are a snapshot', () => {
    const output = transformed('order-book.frame', { ...frame([entry]), t: 'PRICES_DATA' });
    expect(output.priceTicks.map((tick) => tick.source)).toEqual(['snapshot']);
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

  it('makes a dead letter of a bad entry and ticks of the others', () => {
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

  it('counts fields that the interface does not name', () => {
    const output = transformed('order-book.frame', frame([{ ...entry, x: 1 }, entry], { r: null, seq: 9, y: {} }));
    expect(output.extraFields).toBe(3);
    expect(output.priceTicks).toHaveLength(2);
  });

  it('has a bounded number of dead letters, the last of which counts the others', () => {
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

  it('has a dead letter with the beginning of a bad entry that is nested very deep', () => {
    const text = JSON.stringify(frame(['deep'])).replace('"deep"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const output = transformed('order-book.frame', JSON.parse(text), {}, text);
    expect(output.deadLetters).toMatchObject([{ payload: '['.repeat(4096), payloadLength: 200_000 }]);
  });

  it('never shows a number that did not come', () => {
    const text = JSON.stringify(frame([{ ...entry, c: 'big' }, entry])).replace('"big"', '1e999');
    const output = transformed('order-book.frame', JSON.parse(text), {}, text);
    expect(output.deadLetters[0]?.payload).toBe(`{"o":"${MARKET}","c":1e999,"b":0.49,"a":0.51}`);
  });

  it('counts fields that the interface does not name up to 1000 an entry', () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x${n}`, n]));
    expect(transformed('order-book.frame', frame([{ ...entry, ...fields }])).extraFields).toBe(1000);
  });

  it('cuts long payloads and reports their length', () => {
    const output = transformed('order-book.frame', frame([{ o: MARKET, junk: 'x'.repeat(10_000) }]));
    expect(output.deadLetters[0]?.payload).toHaveLength(4096);
    expect(output.deadLetters[0]?.payloadLength).toBeGreaterThan(10_000);
  });

  it('refuses IDs that are too long', () => {
    const output = transformed('order-book.frame', frame([{ ...entry, o: 'x'.repeat(257) }, entry]));
    expect(output.priceTicks).toHaveLength(1);
    expect(output.deadLetters).toEqual([
      expect.objectContaining({ jsonPath: 'd', reason: 'expected an ID of at most 256 characters, got 257' }),
    ]);
  });

  it('never throws, whatever JSON it is, and is always a tick, a control message or a dead letter', () => {
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
