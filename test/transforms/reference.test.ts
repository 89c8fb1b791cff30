import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordKind } from '../../core/index.js';
import { categoryObservations } from '../../transforms/tables/category-observations.js';
import { coinObservations } from '../../transforms/tables/coin-observations.js';
import { eventObservations } from '../../transforms/tables/event-observations.js';
import { marketObservations } from '../../transforms/tables/market-observations.js';
import { tagObservations } from '../../transforms/tables/tag-observations.js';
import { AT, EVENT, MARKET, transformed } from './support.js';

const req = { operation: 'searchEvents', status: 200, poll: 'p1', page: 0 };

describe('a page of event search', () => {
  it('becomes an observation per event and per market', () => {
    const event = {
      id: EVENT,
      title: 'Will it rain?',
      outcomes: [{ marketId: MARKET, yesId: 'yes-1', noId: 'no-1' }],
      createdAt: '2026-01-02T03:04:05.678Z',
      closesAt: '2026-03-01T00:00:00Z',
      volume24h: 12.5,
    };
    const output = transformed(
      'reference.events',
      { content: [event], totalElements: 1, totalPages: 1 },
      { request: req },
    );
    expect(output.rowsOf(eventObservations)).toEqual([
      expect.objectContaining({
        receivedAt: AT,
        poll: 'p1',
        createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678) * 1000,
        closesAt: Date.UTC(2026, 2, 1) * 1000,
        event: expect.objectContaining({ eventId: EVENT, title: 'Will it rain?', volume24h: 12.5 }),
      }),
    ]);
    expect(output.rowsOf(marketObservations)).toEqual([
      expect.objectContaining({
        eventId: EVENT,
        market: expect.objectContaining({ marketId: MARKET, yesAssetId: 'yes-1', noAssetId: 'no-1' }),
      }),
    ]);
  });

  it('becomes a row for an event with an invalid time, and a dead letter for the time', () => {
    const output = transformed('reference.events', [{ id: EVENT, title: 'x', closesAt: 'soon' }], { request: req });
    expect(output.rowsOf(eventObservations).map((row) => row.closesAt)).toEqual([null]);
    expect(output.deadLetters).toEqual([
      expect.objectContaining({ jsonPath: `event ${EVENT} closesAt`, payload: '"soon"' }),
    ]);
  });

  it('becomes a dead letter for an invalid event and rows for the others', () => {
    const output = transformed('reference.events', [{ title: 'no ID' }, { id: EVENT, title: 'x' }], { request: req });
    expect(output.rowsOf(eventObservations)).toHaveLength(1);
    expect(output.deadLetters.map((letter) => letter.jsonPath)).toEqual(['[0].id']);
  });
});

describe('the other lists', () => {
  it('become an observation per entry', () => {
    const categories = transformed('reference.categories', [
      { i: 'c1', n: 'Sport', s: 'sport', sc: [{ i: 'c2', n: 'Golf' }] },
    ]);
    expect(
      categories.rowsOf(categoryObservations).map(({ category }) => [category.categoryId, category.parentId]),
    ).toEqual([
      ['c1', null],
      ['c2', 'c1'],
    ]);
    const tags = transformed('reference.tags', [
      { n: 'rain', r: 1 },
      { n: 'sun', r: 1.5 },
    ]);
    expect(tags.rowsOf(tagObservations).map(({ tag }) => [tag.name, tag.popularityRank])).toEqual([
      ['rain', 1],
      ['sun', null],
    ]);
    expect(tags.deadLetters.map((letter) => letter.jsonPath)).toEqual(['tag sun r']);
    const coins = transformed('reference.coins', [
      { i: 'usdc', sn: 'USDC', ur: 0.9999, urd: '2026-01-02T00:00:00Z', dpf: 6 },
    ]);
    expect(coins.rowsOf(coinObservations)).toEqual([
      expect.objectContaining({
        usdRateAt: Date.UTC(2026, 0, 2) * 1000,
        coin: expect.objectContaining({ coinId: 'usdc', usdRate: 0.9999, fullDecimals: 6 }),
      }),
    ]);
  });

  it('have one ID for the unchanged listings of an entry in one state, by `unchanged` of the record', () => {
    const event = (n: number) => ({ id: `e${n}`, title: 'x', outcomes: [{ marketId: `m${n}` }] });
    const invalid = { title: 'no ID' };
    const unchanged = [
      { since: AT - 20, from: 0, to: 0 },
      { since: AT - 10, from: 2, to: 3 },
    ];
    const request = { ...req, unchanged };
    const output = transformed('reference.events', [event(0), invalid, event(1), event(2)], { request });
    const ids = [...output.rowsOf(eventObservations), ...output.rowsOf(marketObservations)].map((row) => [
      'event' in row ? row.event.eventId : row.market.marketId,
      AT - row.unchangedFrom,
      row.entry,
    ]);
    expect(ids).toEqual([
      ['e0', 20, 0],
      ['e1', 10, 0],
      ['e2', 0, 5],
      ['m0', 0, 2],
      ['m1', 10, 0],
      ['m2', 0, 6],
    ]);
  });

  it.each([[7], [null], ['x'], [{}], [[{ from: 0, to: 9 }]], [[{ since: AT + 1, from: 0, to: 9 }]], [[null, 3]]])(
    'have an ID for each listing when `unchanged` is malformed: %j',
    (unchanged) => {
      const output = transformed('reference.tags', [{ n: 'rain' }, { n: 'sun' }], { request: { ...req, unchanged } });
      expect(output.rowsOf(tagObservations).map((row) => [row.unchangedFrom, row.entry])).toEqual([
        [AT, 1],
        [AT, 2],
      ]);
    },
  );

  it('never throw, for any JSON', () => {
    const kinds = ['reference.events', 'reference.categories', 'reference.tags', 'reference.coins'] as const;
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom<RecordKind>(...kinds), (body, kind) => {
        transformed(kind, body);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it('survive a tree that is nested very deeply', () => {
    const text = `[${'{"i":"c","sc":['.repeat(20_000)}{"i":7}${']}'.repeat(20_000)}]`;
    const output = transformed('reference.categories', JSON.parse(text), {}, text);
    expect(output.rowsOf(categoryObservations)).toHaveLength(20_000);
    expect(output.deadLetters).toMatchObject([{ payload: '{"i":7}' }]);
  });
});

describe('a time of an event', () => {
  const closing = (closesAt: string) => {
    const output = transformed('reference.events', [{ id: EVENT, title: 'x', closesAt }], { request: req });
    return { row: output.rowsOf(eventObservations)[0]?.closesAt, dead: output.deadLetters.map((l) => l.payload) };
  };

  it.each([
    ['2026-01-02T03:04:05.123456789Z', Date.UTC(2026, 0, 2, 3, 4, 5) * 1000 + 123_456],
    ['2026-01-02T03:04:05.5+02:00', Date.UTC(2026, 0, 2, 1, 4, 5) * 1000 + 500_000],
    ['2026-01-02T10:00Z', Date.UTC(2026, 0, 2, 10) * 1000],
    ['2026-01-02', Date.UTC(2026, 0, 2) * 1000],
    ['1900-01-01', Date.UTC(1900, 0, 1) * 1000],
    ['2299-12-31T23:59:59Z', (Date.UTC(2300, 0, 1) - 1000) * 1000],
  ])('%s is stored to the microsecond', (text, micros) => {
    expect(closing(text)).toEqual({ row: micros, dead: [] });
  });

  it.each(['', 'soon', '1', '2026-13-01T00:00:00Z', '2026-02-30', '2026-02-30T00:00:00Z', '1899-12-31', '2300-01-01'])(
    '%j becomes a dead letter',
    (text) => {
      expect(closing(text)).toEqual({ row: null, dead: [JSON.stringify(text)] });
    },
  );
});
