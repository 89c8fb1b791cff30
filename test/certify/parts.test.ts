import { describe, expect, it } from 'vitest';
import { align } from '../../certify/align.js';
import { decimalText, normalised } from '../../certify/amounts.js';
import { binomialTail } from '../../certify/binomial.js';
import { compareRows, notCompared } from '../../certify/comparison.js';
import { isPassed, reportLines } from '../../certify/report.js';

describe('align', () => {
  const rows = (text: string, times: readonly number[]) =>
    [...text].map((value, i) => ({ value, at: times[i] ?? 0, receivedAt: times[i] ?? 0 }));

  it('matches equal sequences one by one', () => {
    expect([...align(rows('abab', [0, 100, 200, 300]), rows('abab', [20, 120, 220, 320]))]).toEqual([0, 1, 2, 3]);
  });

  it('matches a value that returned with the change that was made last before its receipt', () => {
    const second = 1_000_000;
    const expected = rows('aba', [0, second, 2 * second]);
    expect([...align(expected, rows('a', [2 * second + 5000]))]).toEqual([2]);
    expect([...align(expected, rows('aba', [2 * second, 2 * second, 2 * second + 5000]))]).toEqual([0, 1, 2]);
  });

  it('matches nothing that was received before it was made, or long after', () => {
    expect([...align(rows('a', [50_000]), rows('a', [0]))]).toEqual([-1]);
    expect([...align(rows('a', [0]), rows('a', [60_000_000]))]).toEqual([-1]);
  });

  it('leaves a duplicate row and a row out of order without a match', () => {
    expect([...align(rows('ab', [0, 1000]), rows('aab', [2000, 2000, 3000]))].filter((j) => j < 0)).toHaveLength(1);
    expect([...align(rows('abc', [0, 0, 0]), rows('cab', [0, 0, 0]))]).toEqual([-1, 0, 1]);
  });
});

describe('the binomial tail', () => {
  it.each([
    // 3 of 4 heads or more: 5/16.
    [4, 3, 0.5, 5 / 16],
    [4, 1, 0.5, 5 / 16],
    // At most none of ten at 10 %: 0.9^10.
    [10, 0, 0.1, 0.9 ** 10],
    // All of 20 at 1 %: 10^-40.
    [20, 20, 0.01, 1e-40],
    [100, 0, 0, 1],
    [100, 1, 0, 0],
    [7, 7, 1, 1],
  ])('of %i trials with %i successes at %d is %d', (n, k, p, expected) => {
    expect(binomialTail(n, k, p) / (expected || 1)).toBeCloseTo(expected === 0 ? 0 : 1, 10);
  });

  it('does not underflow where a product of probabilities would', () => {
    expect(binomialTail(100_000, 1000, 0.01)).toBeGreaterThan(0.48);
    expect(binomialTail(100_000, 1000, 0.01)).toBeLessThan(0.52);
  });
});

describe('amounts', () => {
  it('are texts without trailing zeros, exact beyond the precision of a number', () => {
    expect(decimalText(-1_200_000n, 6)).toBe('-1.2');
    expect(decimalText(5n, 6)).toBe('0.000005');
    expect(decimalText(12_345_678_901_234_567_890_000_001n, 6)).toBe('12345678901234567890.000001');
    expect(['1.500', '100', '0.000', '-0.00', 'abc'].map(normalised)).toEqual(['1.5', '100', '0', '0', 'abc']);
  });
});

describe('rows that are compared by key', () => {
  it('differ when they are lost, duplicated or have another value, each once', () => {
    const rows = [
      ['a', '1'],
      ['b', '2'],
    ] as const;
    expect(compareRows('r', rows, rows)).toMatchObject({ expected: 2, found: 2, unexplained: 0 });
    expect(compareRows('r', rows, rows.slice(1))).toMatchObject({
      unexplained: 1,
      examples: ['a: missing; expected 1'],
    });
    expect(compareRows('r', rows, [...rows, rows[0]])).toMatchObject({ unexplained: 1, examples: ['a: surplus 1'] });
    expect(compareRows('r', rows, [['a', '3'], rows[1]])).toMatchObject({
      unexplained: 1,
      examples: ['a: expected 1, found 3'],
    });
  });
});

describe('the report', () => {
  it('is a table with reasons and examples, and names the seed of a failed run', () => {
    const comparisons = [
      {
        name: 'price changes',
        expected: 12_000,
        found: 11_990,
        explained: [{ by: 'gap: test', count: 9 }],
        unexplained: 1,
        examples: ['market m: not recorded'],
      },
      notCompared('balances', 'no account is recorded'),
    ];
    expect(isPassed(comparisons)).toBe(false);
    expect(
      reportLines({
        seed: 7,
        minutes: 2,
        passed: false,
        planned: { faults: 2, kills: 1 },
        faults: [{ id: 1, kind: 'slow', stream: 'rest', at: 0 }],
        kills: [],
        comparisons,
      }),
    ).toMatchInlineSnapshot(`
      [
        "faults applied, 1 of 2 planned: 1 rest slow",
        "killed with SIGKILL, 0 of 1 planned: none",
        "",
        "compared           expected   found  explained  unexplained",
        "─────────────  ────────────  ──────  ─────────  ───────────",
        "price changes        12,000  11,990          9            1",
        "balances       not compared",
        "",
        "explained:",
        "  price changes: 9 (0.075 %) gap: test",
        "",
        "not compared:",
        "  balances: no account is recorded",
        "",
        "unexplained:",
        "  price changes: market m: not recorded",
        "",
        "NOT certified: not everything is as in the ledger of the exchange. --seed 7 repeats the plan.",
      ]
    `);
  });
});
