import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceHistoryPoints } from '../../transforms/tables/chance-history-points.js';
import { chancePoints } from '../../transforms/tables/chance-points.js';
import { AT, EVENT, MARKET, OTHER_MARKET, transformed } from './support.js';

const T = 1_770_000_000;

describe('a frame of the chance stream', () => {
  it('becomes a point for a live change', () => {
    const output = transformed('chance.frame', { t: 'probability', e: EVENT, o: [MARKET], d: { t: T, p: 0.25 } });
    const point = { receivedAt: AT, occurredAt: T * 1e6, eventId: EVENT, marketId: MARKET, chance: 0.25 };
    expect(output.rowsOf(chancePoints)).toEqual([{ ...point, source: 'change', repeated: false }]);
  });

  it('has the repeated points that its request names, among live changes', () => {
    const repeatedIn = (t: string, d: object) => {
      const output = transformed('chance.frame', { t, e: EVENT, o: [MARKET], d }, { request: { repeated: [0] } });
      return output.rowsOf(chancePoints).map((row) => row.repeated);
    };
    const point = { t: T, p: 0.25 };
    expect(repeatedIn('probability', point)).toEqual([true]);
    expect(repeatedIn('probability', { [MARKET]: point })).toEqual([false]);
    expect(repeatedIn('UPDATE_HISTORY', point)).toEqual([false]);
  });

  it('becomes a point per outcome for the last known values', () => {
    const d = { [MARKET]: { t: T, p: 0.25 }, [OTHER_MARKET]: { t: T - 9, p: 1 } };
    const output = transformed('chance.frame', { t: 'probability', e: EVENT, o: [MARKET, OTHER_MARKET], d });
    expect(output.rowsOf(chancePoints).map((row) => [row.marketId, row.occurredAt, row.chance, row.source])).toEqual([
      [MARKET, T * 1e6, 0.25, 'last-known'],
      [OTHER_MARKET, (T - 9) * 1e6, 1, 'last-known'],
    ]);
  });

  it('distinguishes aggregated points from live ones', () => {
    const output = transformed('chance.frame', { t: 'UPDATE_HISTORY', e: EVENT, o: [MARKET], d: { t: T, p: 0.25 } });
    expect(output.rowsOf(chancePoints).map((row) => row.source)).toEqual(['aggregate']);
  });

  it('has no event when the message has the market only', () => {
    const output = transformed('chance.frame', { t: 'probability', o: [MARKET], d: { t: T, p: 0.5 } });
    expect(output.rowsOf(chancePoints)).toEqual([expect.objectContaining({ eventId: '', marketId: MARKET })]);
  });

  it.each([
    ['an unknown type', { t: 'NEWS', e: EVENT }, 't'],
    ['a point of no outcome', { t: 'probability', e: EVENT, d: { t: T, p: 0.5 } }, 'o'],
    ['an impossible probability', { t: 'probability', e: EVENT, o: [MARKET], d: { t: T, p: 2 } }, 'd.p'],
  ])('is a dead letter when it is %s', (_, body, path) => {
    const output = transformed('chance.frame', body);
    expect(output.deadLetters.map((letter) => letter.jsonPath)).toEqual([path]);
    expect(output.rowsOf(chancePoints)).toEqual([]);
  });

  it.each(['probability', 'UPDATE_HISTORY'])(
    'has a dead letter instead of a point whose time is over 5 minutes after its receipt (%s)',
    (t) => {
      const latest = Math.floor(AT / 1e6) + 300;
      const one = transformed('chance.frame', { t, e: EVENT, o: [MARKET], d: { t: latest + 1, p: 0.25 } });
      expect(one.rowsOf(chancePoints)).toEqual([]);
      expect(one.deadLetters).toEqual([
        {
          jsonPath: 'd.t',
          reason: expect.stringMatching(
            /^expected a time at most 5 minutes after its receipt; .* clock of this machine$/,
          ),
          payload: `{"t":${latest + 1},"p":0.25}`,
          payloadLength: 25,
        },
      ]);
      const d = { [MARKET]: { t: latest, p: 0.25 }, [OTHER_MARKET]: { t: latest + 3300, p: 0.75 } };
      const two = transformed('chance.frame', { t, e: EVENT, o: [MARKET, OTHER_MARKET], d });
      expect(two.rowsOf(chancePoints).map((row) => [row.marketId, row.occurredAt])).toEqual([[MARKET, latest * 1e6]]);
      expect(two.deadLetters.map((letter) => letter.jsonPath)).toEqual([`d.${OTHER_MARKET}.t`]);
    },
  );

  it('becomes no rows when it is a confirmation, and is counted when it is an error', () => {
    expect(transformed('chance.frame', { t: 'success', d: { message: 'subscribed' } }).deadLetters).toEqual([]);
    expect(transformed('chance.frame', { t: 'HISTORY', r: 'from after to' }).exchangeErrors).toBe(1);
  });

  it('becomes history for a response to HISTORY, without anchors and flat lines', () => {
    const d = {
      [MARKET]: [
        { t: T, p: 0.2 },
        { t: T + 5, p: 0.3 },
        { t: T + 9, p: 0.2 },
      ],
      [OTHER_MARKET]: [
        { t: T, p: 0.4 },
        { t: T + 60, p: 0.4 },
      ],
    };
    const body = { t: 'HISTORY_RESPONSE', e: EVENT, d };
    const told = { from: T, to: T + 60, period: '1s' };
    expect(transformed('chance.frame', body, { request: told }).rowsOf(chanceHistoryPoints)).toEqual([
      {
        receivedAt: AT,
        eventId: EVENT,
        marketId: MARKET,
        period: '1s',
        occurredAt: (T + 5) * 1e6,
        chance: 0.3,
        source: 'stream',
      },
      expect.objectContaining({ occurredAt: (T + 9) * 1e6, chance: 0.2 }),
    ]);
    expect(
      transformed('chance.frame', body)
        .rowsOf(chanceHistoryPoints)
        .map((row) => row.period),
    ).toEqual(['', '']);
  });
});

describe('a response to HISTORY whose range is known', () => {
  const points = (series: readonly object[], request: Readonly<Record<string, number>>) =>
    transformed('chance.frame', { t: 'HISTORY_RESPONSE', e: EVENT, d: { [MARKET]: series } }, { request })
      .rowsOf(chanceHistoryPoints)
      .map(({ period, occurredAt, chance }) => [period, occurredAt / 1e6 - T, chance]);
  const request = { from: T, to: T + 60 };
  const point = (seconds: number, p: number) => ({ t: T + seconds, p });

  it('is raw without a period; a point equal to the anchor is an observation', () => {
    expect(points([point(0, 0.2), point(5, 0.2)], request)).toEqual([['raw', 5, 0.2]]);
    expect(points([point(0, 0.2), point(60, 0.2)], request)).toEqual([]);
  });

  it('has no anchor when the first point is after the start of the range', () => {
    expect(points([point(3, 0.2), point(5, 0.3)], request)).toEqual([
      ['raw', 3, 0.2],
      ['raw', 5, 0.3],
    ]);
    expect(points([point(3, 0.2)], request)).toEqual([['raw', 3, 0.2]]);
    expect(points([point(60, 0.2)], request)).toEqual([]);
  });
});

describe('a response of chance history', () => {
  const req = { event: EVENT, market: MARKET, period: '1H', from: T, to: T + 7200, status: 200 };
  const points = (body: unknown, more: object = {}) =>
    transformed('chance.history', body, { request: { ...req, ...more } }).rowsOf(chanceHistoryPoints);

  it('becomes a point per entry after the anchor [6.2/rule-1]', () => {
    const body = [
      { t: T, p: 0.5 },
      { t: T + 3600, p: 0.6 },
    ];
    expect(points(body)).toEqual([
      {
        receivedAt: AT,
        eventId: EVENT,
        marketId: MARKET,
        period: '1H',
        occurredAt: (T + 3600) * 1e6,
        chance: 0.6,
        source: 'rest',
      },
    ]);
  });

  it('is not an observation when it is a flat line [6.2/rule-2]', () => {
    expect(
      points([
        { t: T, p: 0.5 },
        { t: T + 7200, p: 0.5 },
      ]),
    ).toEqual([]);
  });

  it('is an observation when the same probability was reached again before the end', () => {
    expect(
      points([
        { t: T, p: 0.5 },
        { t: T + 3600, p: 0.5 },
      ]),
    ).toHaveLength(1);
  });

  it('becomes no rows for a flat line when the end of the range is unknown', () => {
    expect(
      points(
        [
          { t: T, p: 0.5 },
          { t: T + 3600, p: 0.5 },
        ],
        { to: null },
      ),
    ).toEqual([]);
  });

  it('becomes no rows without points', () => {
    expect(points([])).toEqual([]);
    expect(points([{ t: T, p: 0.5 }])).toEqual([]);
  });

  it('becomes a row for every valid point when the anchor is invalid', () => {
    const output = transformed('chance.history', [{ t: T }, { t: T + 3600, p: 0.6 }], { request: req });
    expect(output.rowsOf(chanceHistoryPoints).map((row) => row.chance)).toEqual([0.6]);
    expect(output.deadLetters.map((letter) => letter.jsonPath)).toEqual(['[0].p']);
  });

  it('becomes no rows and is counted when it has an error status', () => {
    const output = transformed('chance.history', { status: 429 }, { request: { ...req, status: 429 } });
    expect([output.exchangeErrors, output.deadLetters]).toEqual([1, []]);
  });

  it('is a dead letter when its request is incomplete', () => {
    const output = transformed('chance.history', [{ t: T, p: 0.5 }], { request: { status: 200 } });
    expect(output.deadLetters.map((letter) => letter.jsonPath)).toEqual(['req.event']);
  });

  it('never throws, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('chance.frame' as const, 'chance.history' as const), (body, kind) => {
        transformed(kind, body, { request: req });
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
