import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ids } from '../../exchange/engine/ids.js';
import { centsOf, hashPassword, hundredthsOf, microsOf, passwordMatches } from '../../exchange/engine/index.js';
import { affordable, feeOf, MAX_MONEY, MAX_QUANTITY, shareOfCost, worth } from '../../exchange/engine/units.js';

const price = fc.integer({ min: 1, max: 99 });
const quantity = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: MAX_QUANTITY }));
const money = fc.oneof(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: MAX_MONEY }));
const feeBps = fc.integer({ min: 0, max: 10_000 });

describe('amounts', () => {
  it('are parsed from decimals without rounding, or rejected', () => {
    expect([0.29, 0.57, 0.01, 0.99, 1.1, '0.30'].map(centsOf)).toEqual([29, 57, 1, 99, 110, 30]);
    expect([0.295, 1e-7, 1e21, Number.NaN, Number.POSITIVE_INFINITY, '1e2', '', ' 1', '0x1'].map(centsOf)).toEqual(
      Array(9).fill(undefined),
    );
    expect([-0.5, -0, 12].map(hundredthsOf)).toEqual([-50, 0, 1200]);
    expect([0.000001, 1234567.891234, 0.0000001].map(microsOf)).toEqual([1, 1_234_567_891_234, undefined]);
    fc.assert(fc.property(fc.integer({ min: 0, max: MAX_MONEY }), (micros) => microsOf(micros / 1e6) === micros));
  });

  it('of fees round up to the next micro, at any size', () => {
    expect([feeOf(33, 1, 20), feeOf(50, 1, 20), feeOf(33, 1, 0), feeOf(1, 1, 1)]).toEqual([7, 10, 0, 1]);
    fc.assert(
      fc.property(price, quantity, feeBps, (p, q, bps) => {
        const exact = BigInt(p) * BigInt(q) * BigInt(bps);
        expect(BigInt(feeOf(p, q, bps))).toBe((exact + 99n) / 100n);
      }),
    );
  });

  it('buy the maximum number of hundredths of a share that they can pay with the fee', () => {
    fc.assert(
      fc.property(price, money, feeBps, (p, budget, bps) => {
        const most = affordable(p, budget, bps);
        const cost = (q: number) => BigInt(p) * BigInt(q) * 100n + (BigInt(p) * BigInt(q) * BigInt(bps) + 99n) / 100n;
        expect(cost(most) <= BigInt(budget)).toBe(true);
        expect(cost(most + 1) > BigInt(budget)).toBe(true);
      }),
    );
  });

  it('of cost are reduced by the sold part, rounded half to even, at any size', () => {
    expect([shareOfCost(10, 1, 4), shareOfCost(30, 1, 4), shareOfCost(10, 1, 3), shareOfCost(7, 5, 5)]).toEqual([
      2, 8, 3, 7,
    ]);
    fc.assert(
      fc.property(money, quantity, quantity, (cost, a, b) => {
        const [sold, held] = a < b ? [a, b] : [b, a];
        const part = BigInt(shareOfCost(cost, sold, held));
        const twiceOff = 2n * (BigInt(cost) * BigInt(sold) - part * BigInt(held));
        const off = twiceOff < 0n ? -twiceOff : twiceOff;
        expect(off <= BigInt(held)).toBe(true);
        if (off === BigInt(held)) expect(part % 2n).toBe(0n);
      }),
    );
  });

  it('stay exact integers for the largest order', () => {
    expect(worth(99, MAX_QUANTITY)).toBe(990_000_000_000_000);
    expect(() => worth(99, 1e15)).toThrow(RangeError);
  });
});

describe('IDs', () => {
  it('are UUIDs that decode to their number, and to nothing for another kind, seed or a changed digit [1/ids]', () => {
    const ids = new Ids(1);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), fc.nat(31), (number, digit) => {
        const id = ids.id('order', number);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(ids.number('order', id)).toBe(number);
        expect(ids.number('trade', id)).toBeUndefined();
        expect(new Ids(2).number('order', id)).toBeUndefined();
        const at = [...id].flatMap((char, i) => (char === '-' ? [] : [i]))[digit] ?? 0;
        const changed = id.slice(0, at) + (id[at] === '0' ? '1' : '0') + id.slice(at + 1);
        expect(ids.number('order', changed)).toBeUndefined();
      }),
    );
    expect(ids.number('order', 'no UUID')).toBeUndefined();
  });

  it('are unique, and look random', () => {
    const ids = new Ids(1);
    const all = new Set<string>();
    for (let i = 0; i < 20_000; i++) {
      all.add(ids.id('order', i));
      all.add(ids.id('trade', i));
    }
    expect(all.size).toBe(40_000);
    const ones = Array.from(all, (id) => Number.parseInt(id.slice(0, 8), 16) / 2 ** 32);
    const mean = ones.reduce((sum, one) => sum + one, 0) / ones.length;
    expect(mean).toBeGreaterThan(0.49);
    expect(mean).toBeLessThan(0.51);
  });
});

describe('passwords', () => {
  it('match their hash and nothing else', () => {
    const hash = hashPassword('correct horse');
    expect(passwordMatches('correct horse', hash)).toBe(true);
    expect(passwordMatches('correct horse ', hash)).toBe(false);
    expect(hashPassword('correct horse')).not.toBe(hash);
    expect(passwordMatches('x', 'not a hash')).toBe(false);
  });
});
