import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeCategories,
  decodeCoins,
  decodeEventPage,
  decodeRestError,
  decodeTags,
  type Event,
} from '../../client/index.js';

const market = (over: Partial<Event['markets'][number]> = {}) => ({
  marketId: 'm1',
  name: null,
  yesAssetId: 'y1',
  noAssetId: 'n1',
  yesPrice: null,
  noPrice: null,
  ...over,
});
const outcomes = [{ marketId: 'm1', yesId: 'y1', noId: 'n1' }];
const ma = [
  {
    i: 'm1',
    r: [
      { i: 'n1', ip: false, p: 0.4 },
      { i: 'y1', ip: true, p: 0.6 },
    ],
  },
];
const only = (body: unknown) => {
  const decoded = decodeEventPage(body);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded;
};

describe('decoding event search', () => {
  it('reads the documented shape, the shape of the script, and both at once as the same event [1/markets 2/event-outcomes 2/event-runners]', () => {
    const documented = only({ content: [{ id: 'e1', title: 'T', outcomes }], totalElements: 7, totalPages: 4 });
    expect(documented.items).toMatchObject([{ eventId: 'e1', title: 'T', markets: [market()] }]);
    expect(documented.page).toEqual({ page: null, size: null, totalPages: 4, totalItems: 7 });
    const script = only([{ i: 'e1', ti: 'T', ma }]);
    const priced = [market({ yesPrice: 0.6, noPrice: 0.4 })];
    expect(script.items).toMatchObject([{ eventId: 'e1', title: 'T', markets: priced }]);
    const both = only({ i: [{ id: 'e1', i: 'e1', title: 'T', ti: 'T', outcomes, ma }], p: 0, s: 1, tp: 1 });
    expect(both.items).toMatchObject([{ eventId: 'e1', title: 'T', markets: priced }]);
    expect(both.page).toMatchObject({ page: 0, size: 1, totalPages: 1 });
  });

  it('merges markets that only one of the shapes names', () => {
    const { items } = only([{ id: 'e1', outcomes, ma: [{ i: 'm2', r: [{ i: 'y2', ip: true, p: '0.25' }] }] }]);
    expect(items[0]?.markets).toEqual([
      market(),
      market({ marketId: 'm2', yesAssetId: 'y2', noAssetId: null, yesPrice: 0.25 }),
    ]);
  });

  it('decodes an event whose market or asset is invalid, and reports which and why', () => {
    const { items, invalidEntries } = only([
      {
        id: 'e1',
        outcomes: [...outcomes, { yesId: 'y' }, 5],
        ma: [{ i: 'm1', r: [{ i: 'other', ip: true, p: 0.5 }, { i: 'z' }] }],
      },
    ]);
    expect(items[0]?.markets).toEqual([market()]);
    expect(invalidEntries.map(({ index, path, reason }) => ({ index, path, reason }))).toEqual([
      { index: 0, path: '[0].outcomes[1].marketId', reason: 'expected a string, got nothing' },
      { index: 0, path: '[0].outcomes[2]', reason: 'expected an object, got number 5' },
      { index: 0, path: '[0].ma[0].r[0].i', reason: 'is another YES asset than y1, named before' },
      { index: 0, path: '[0].ma[0].r[1].ip', reason: 'expected a boolean that tells YES from NO, got nothing' },
    ]);
  });

  it('refuses an event without an ID or with two [1/ids]', () => {
    const { items, invalidEntries } = only({ content: [{ title: 'T' }, { id: 'a', i: 'b' }, { id: 7 }, { id: 'ok' }] });
    expect(items.map((e) => e.eventId)).toEqual(['ok']);
    expect(invalidEntries.map(({ index, path, reason }) => ({ index, path, reason }))).toEqual([
      { index: 0, path: 'content[0].id', reason: 'expected an event ID in id or i, got nothing' },
      { index: 1, path: 'content[1].i', reason: 'id and i name different events' },
      { index: 2, path: 'content[2].id', reason: 'expected a string, got number 7' },
    ]);
  });

  it('uses undocumented fields of the expected type, and lists their names [2/event-other]', () => {
    const { items, extraFields } = only([
      {
        id: 'e',
        slug: 's',
        category: { s: 'sports' },
        tags: ['a', { n: 'b' }, 3],
        volume24h: '12.5',
        liquidity: {},
        x: 1,
        outcomes: [{ marketId: 'm', name: 'Yes?' }],
      },
    ]);
    expect(items[0]).toMatchObject({
      slug: 's',
      category: 'sports',
      tags: ['a', 'b'],
      volume24h: 12.5,
      liquidity: null,
    });
    expect(items[0]?.markets[0]?.name).toBe('Yes?');
    expect(extraFields).toEqual(['category', 'liquidity', 'outcomes.name', 'slug', 'tags', 'volume24h', 'x']);
  });
});

describe('decoding reference lists', () => {
  it('flattens the category tree in depth-first order [2/category]', () => {
    const body = [
      { i: 'a', n: 'A', s: 'a', pi: null, sc: [{ i: 'b', sc: [{ i: 'c' }] }, { n: 'no id' }, { i: 'd', pi: 'a' }] },
    ];
    const decoded = decodeCategories(body);
    expect(decoded).toMatchObject({
      items: [
        { categoryId: 'a', name: 'A', slug: 'a', parentId: null, depth: 0 },
        { categoryId: 'b', parentId: 'a', depth: 1 },
        { categoryId: 'c', parentId: 'b', depth: 2 },
        { categoryId: 'd', parentId: 'a', depth: 1 },
      ],
      invalidEntries: [{ index: 0, path: '[0].sc[1].i' }],
    });
  });

  it('survives a category tree nested 50,000 deep', () => {
    let tree: Record<string, unknown> = { i: 'leaf' };
    for (let n = 0; n < 50_000; n++) tree = { i: `n${n}`, sc: [tree] };
    const decoded = decodeCategories([tree]);
    expect(decoded.ok && decoded.items.length).toBe(50_001);
  });

  it('reads tags and coins, with numbers sent as text [2/coin 2/tag]', () => {
    expect(decodeTags([{ n: 'x', r: '3' }, { n: 'y' }, { n: '' }])).toMatchObject({
      items: [
        { name: 'x', popularityRank: 3 },
        { name: 'y', popularityRank: null },
      ],
      invalidEntries: [{ index: 2, path: '[2].n', reason: 'expected a text that is not empty, got string ""' }],
    });
    const coin = {
      i: 'c',
      n: 'USD Coin',
      sn: 'USDC',
      ur: 1,
      urd: '2025-01-01T00:00:00Z',
      dpf: 6,
      dps: 2,
      ac: 'ACTIVE',
      iu: 'u',
      sc: true,
      pmc: true,
    };
    expect(decodeCoins([coin, { i: 'd', ur: 'much' }])).toMatchObject({
      items: [
        {
          coinId: 'c',
          name: 'USD Coin',
          ticker: 'USDC',
          usdRate: 1,
          usdRateAt: '2025-01-01T00:00:00Z',
          fullDecimals: 6,
          displayDecimals: 2,
          status: 'ACTIVE',
          iconUrl: 'u',
          systemCoin: true,
          collateral: true,
        },
      ],
      invalidEntries: [{ index: 1, path: '[1].ur', reason: 'expected a number, got string "much"' }],
      extraFields: [],
    });
  });

  it('never throws, for any body', () => {
    const keys = fc.constantFrom('i', 'n', 's', 'sc', 'id', 'ma', 'outcomes', 'r', 'content', 'ip', 'marketId', 'tags');
    const nested = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
      ),
    })).value;
    fc.assert(
      fc.property(nested, (value) => {
        for (const decode of [decodeEventPage, decodeCategories, decodeTags, decodeCoins]) {
          expect(decode(value).ok).toBeTypeOf('boolean');
          expect(decode([value]).ok).toBe(true);
        }
        decodeRestError(value);
      }),
      { seed: 36, numRuns: 2000 },
    );
  });

  it('list at most 100 invalid entries and 1000 names of extra fields', () => {
    const fields = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`x${n}`, n]));
    for (const bad of [7, {}, []]) {
      const list = decodeTags([...Array.from({ length: 300 }, () => bad), { n: 'sport', ...fields }]);
      if (!list.ok) throw new Error(list.reason);
      expect([
        list.invalidEntries.length,
        list.invalidEntriesOmitted,
        list.items.length,
        list.extraFields.length,
      ]).toEqual([100, 200, 1, 1000]);
    }
    const hopeless = decodeTags([...Array.from({ length: 12_000 }, () => ({})), { n: 'sport' }]);
    expect(hopeless).toMatchObject({ invalidEntriesOmitted: 11_901, items: [] });
    const markets = Array.from({ length: 300 }, () => 7);
    const events = decodeEventPage([{ id: 'e1', title: 'E', outcomes: markets, ma: markets }]);
    const categories = decodeCategories([{ i: 'c1', n: 'C', sc: markets }]);
    expect(events).toMatchObject({ invalidEntriesOmitted: 500, items: [{ eventId: 'e1' }] });
    expect(categories).toMatchObject({ invalidEntriesOmitted: 200, items: [{ categoryId: 'c1' }] });
  });
});
