import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeChanceHistory, decodeChanceMessage } from '../../client/index.js';
import { chanceEnvelopeSchema, chancePointSchema, explainIssue } from '../../client/wire/index.js';

describe('decoding the chance stream', () => {
  it('distinguishes the map after SUBSCRIBE from one live point [6.2/live]', () => {
    expect(
      decodeChanceMessage({
        t: 'probability',
        e: 'e1',
        o: ['m1', 'm2'],
        d: { m1: { t: 10, p: 0.4 }, m2: { t: 11, p: 1 } },
      }),
    ).toEqual({
      type: 'probability',
      initial: true,
      eventId: 'e1',
      points: [
        { marketId: 'm1', time: 10, probability: 0.4 },
        { marketId: 'm2', time: 11, probability: 1 },
      ],
      invalidEntries: [],
      invalidEntriesOmitted: 0,
    });
    expect(decodeChanceMessage({ t: 'probability', o: ['m1'], d: { t: 12, p: 0.41 } })).toEqual({
      type: 'probability',
      initial: false,
      eventId: null,
      points: [{ marketId: 'm1', time: 12, probability: 0.41 }],
      invalidEntries: [],
      invalidEntriesOmitted: 0,
    });
  });

  it('decodes aggregated points, history, confirmations, errors and unknown messages', () => {
    expect(decodeChanceMessage({ t: 'UPDATE_HISTORY', e: 'e1', o: ['m1'], d: { t: 12, p: 0 } })).toMatchObject({
      type: 'aggregated',
      points: [{ marketId: 'm1', time: 12, probability: 0 }],
    });
    expect(decodeChanceMessage({ t: 'HISTORY_RESPONSE', e: 'e1', d: { m1: [{ t: 1, p: 0.1 }], m2: [] } })).toEqual({
      type: 'history',
      eventId: 'e1',
      series: [
        { marketId: 'm1', points: [{ time: 1, probability: 0.1 }] },
        { marketId: 'm2', points: [] },
      ],
      invalidEntries: [],
      invalidEntriesOmitted: 0,
    });
    expect(decodeChanceMessage({ t: 'success', o: ['m1'], d: { message: 'Subscribed' } })).toEqual({
      type: 'success',
      message: 'Subscribed',
      eventId: null,
      marketIds: ['m1'],
    });
    expect(decodeChanceMessage({ r: 'unknown event' })).toMatchObject({ type: 'error', reason: 'unknown event' });
    expect(decodeChanceMessage({ t: 'error', d: { error: 'no' } })).toMatchObject({ type: 'error', reason: 'no' });
    expect(decodeChanceMessage({ t: 'NEWS' })).toMatchObject({ type: 'unknown', wireType: 'NEWS' });
  });

  it('rejects only the invalid points of a map or of a history', () => {
    const bad = { t: '10', p: 0.5 };
    expect(
      decodeChanceMessage({ t: 'probability', d: { m1: bad, 'm-2': { t: 5, p: 2 }, m3: { t: 5, p: 0.2 } } }),
    ).toMatchObject({
      points: [{ marketId: 'm3', time: 5, probability: 0.2 }],
      invalidEntries: [
        { index: 0, path: 'd.m1.t', reason: 'expected a number, got string "10"', value: bad },
        { index: 1, path: 'd["m-2"].p', reason: 'expected at most 1, got number 2' },
      ],
    });
    expect(decodeChanceMessage({ t: 'HISTORY_RESPONSE', d: { m1: [{ t: 1, p: 0 }, null], m2: 'x' } })).toMatchObject({
      series: [{ marketId: 'm1', points: [{ time: 1, probability: 0 }] }],
      invalidEntries: [
        { index: 1, path: 'd.m1[1]', reason: 'expected an object, got null' },
        { index: 1, path: 'd.m2', reason: 'expected a list of points, got string "x"' },
      ],
    });
  });

  it('rejects a live point without exactly one outcome', () => {
    expect(decodeChanceMessage({ t: 'probability', d: { t: 1, p: 0.5 } })).toMatchObject({
      type: 'invalid',
      path: 'o',
    });
    expect(decodeChanceMessage({ t: 'probability', o: ['a', 'b'], d: { t: 1, p: 0.5 } })).toMatchObject({
      type: 'invalid',
      reason: 'expected the one outcome that the point belongs to, got 2',
    });
  });

  it('refuses milliseconds where seconds belong [2/probability-point]', () => {
    expect(decodeChanceMessage({ t: 'probability', o: ['a'], d: { t: 1763690000123, p: 0.5 } })).toMatchObject({
      points: [],
      invalidEntries: [{ path: 'd.t', reason: 'expected at most 10413791999, got number 1763690000123' }],
    });
  });

  it('never throws, rejects exactly the points and envelopes that the schema rejects [8/probability]', () => {
    const point = fc.oneof(
      fc.record({ t: fc.oneof(fc.nat(), fc.double(), fc.jsonValue()), p: fc.oneof(fc.double(), fc.jsonValue()) }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(point, fc.jsonValue(), fc.jsonValue(), (value, any, other) => {
        const history = decodeChanceMessage({ t: 'HISTORY_RESPONSE', d: { m: [value] } });
        const verdict = chancePointSchema.safeParse(value);
        if (history.type !== 'history') throw new Error(history.type);
        if (verdict.success)
          expect(history.series[0]?.points).toEqual([{ time: verdict.data.t, probability: verdict.data.p }]);
        else
          expect(history.invalidEntries).toEqual([
            { index: 0, ...explainIssue(verdict.error, value, 'd.m[0]'), value },
          ]);
        const body = { t: 'success', e: any, o: other };
        expect(decodeChanceMessage(body).type === 'invalid').toBe(!chanceEnvelopeSchema.safeParse(body).success);
        for (const t of ['probability', 'UPDATE_HISTORY', 'HISTORY_RESPONSE', 'success', 'x'])
          expect(decodeChanceMessage({ t, o: ['m'], d: any }).type).toBeTypeOf('string');
        expect(decodeChanceMessage(any).type).toBeTypeOf('string');
      }),
      { seed: 34, numRuns: 2000 },
    );
  });
});

describe('decoding chance history', () => {
  const points = [
    { time: 1, probability: 0.5 },
    { time: 2, probability: 0.6 },
  ];
  const wire = [
    { t: 1, p: 0.5 },
    { t: 2, p: 0.6 },
  ];

  it.each([
    ['a bare array', wire],
    ['a content page', { content: wire, totalElements: 2, totalPages: 1 }],
    ['an i page', { i: wire, p: 0, s: 2, tp: 1 }],
    ['a map with the outcome', { m1: wire, m2: [] }],
    ['a map with one outcome', { other: wire }],
  ])('takes %s', (_, body) => {
    expect(decodeChanceHistory(body, 'm1')).toMatchObject({ ok: true, items: points, invalidEntries: [] });
  });

  it('reports what is wrong with a body without points', () => {
    expect(decodeChanceHistory('x')).toEqual({
      ok: false,
      path: '',
      reason: 'expected a list, or an object that wraps one, got string "x"',
    });
    expect(decodeChanceHistory({ a: 1, b: 2 }, 'm1')).toMatchObject({ ok: false, path: '' });
    expect(decodeChanceHistory({ content: 5 })).toMatchObject({ ok: false, path: 'content' });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.anything()), (value) => {
        expect(decodeChanceHistory(value).ok).toBeTypeOf('boolean');
        expect(decodeChanceHistory([value]).ok).toBe(true);
      }),
      { seed: 35, numRuns: 1000 },
    );
  });

  it('lists the first 100 invalid points of a body and counts the others', () => {
    const points = [...Array.from({ length: 300 }, () => 7), { t: 1, p: 0.5 }];
    const series = Object.fromEntries(points.map((point, n) => [`m${n}`, point]));
    const bodies = [
      decodeChanceMessage({ t: 'probability', e: 'e1', d: series }),
      decodeChanceMessage({ t: 'HISTORY_RESPONSE', e: 'e1', d: series }),
      decodeChanceMessage({ t: 'HISTORY_RESPONSE', e: 'e1', d: { m1: points.slice(0, 150), m2: points.slice(150) } }),
      decodeChanceHistory(points),
    ];
    const told = bodies.map((body) =>
      'invalidEntries' in body ? [body.invalidEntries.length, body.invalidEntriesOmitted] : [],
    );
    expect(told).toEqual([
      [100, 200],
      [100, 201],
      [100, 200],
      [100, 200],
    ]);
  });
});
