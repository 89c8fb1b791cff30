import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceHistory, MAX_HISTORY_POINTS, type Period, parsePeriod } from '../../exchange/chance-history.js';
import type { ChancePoint } from '../../exchange/engine/index.js';

const CODES = ['1s', '5s', '5M', '10M', '30M', '1H', '3H', '4H', '6H', '1d', '7d', '1m'] as const;

const period = (code: string): Period => {
  const found = parsePeriod(code);
  if (!found) throw new Error(`no period ${code}`);
  return found;
};

const lookUp = (raw: readonly ChancePoint[]) => (seconds: number) => raw.findLast(({ t }) => t <= seconds);
const history = (raw: readonly ChancePoint[], code: string | undefined, from: number, to: number) =>
  chanceHistory(lookUp(raw), { period: code === undefined ? { unit: 'raw' } : period(code), from, to });

/** The end of a second's period, computed from a calendar, independently of the code under test. */
function endOf(code: string, second: number): number {
  if (code === '1m') {
    const [year = 0, month = 0] = new Date(second * 1000).toISOString().split('-').map(Number);
    const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}`;
    return Date.parse(`${next}-01T00:00:00Z`) / 1000;
  }
  const units: Record<string, number> = { s: 1, M: 60, H: 3600, d: 86_400 };
  const length = Number.parseInt(code, 10) * (units[code.at(-1) ?? ''] ?? 1);
  return second - (second % length) + length;
}

/** The rules of the interface, applied one after another to all points: slow, but obviously correct. */
function reference(raw: readonly ChancePoint[], code: string | undefined, from: number, to: number): ChancePoint[] {
  const points = new Map<number, number>();
  for (const { t, p } of raw) points.set(code === undefined ? t : endOf(code, t), p);
  const inside = [...points].filter(([t]) => from < t && t <= to).map(([t, p]) => ({ t, p }));
  const anchor = raw.filter(({ t }) => t <= from).at(-1);
  const start = anchor ? [{ t: from, p: anchor.p }] : [];
  if (inside.length > 0) return [...start, ...inside];
  const closed = raw.filter(({ t }) => (code === undefined ? t <= to : t < to)).at(-1);
  const last = closed && (!anchor || closed.t >= anchor.t) ? closed : (anchor ?? raw.filter(({ t }) => t <= to).at(-1));
  return last ? [...start, { t: to, p: last.p }] : [];
}

/** Raw points: strictly increasing whole seconds, with gaps from one second to about two months. */
const rawPoints = fc
  .record({
    start: fc.integer({ min: 1_600_000_000, max: 1_760_000_000 }),
    steps: fc.array(
      fc.record({
        gap: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5_000_000 })),
        cents: fc.integer({ min: 1, max: 99 }),
      }),
      { maxLength: 60, size: 'max' },
    ),
  })
  .map(({ start, steps }) => {
    const points = [{ t: start, p: 0.5 }];
    for (const { gap, cents } of steps) points.push({ t: (points.at(-1)?.t ?? 0) + gap, p: cents / 100 });
    return points;
  });

/** Position within a range: 0 is its start, 1 its end. */
const place = fc.integer({ min: 0, max: 1000 }).map((permille) => permille / 1000);

describe('chance history', () => {
  it('equals a naive reading of the rules for every period code, custom seconds and raw points [6.2/rule-3]', () => {
    const codes = fc.oneof(
      fc.constantFrom(undefined, ...CODES),
      fc.integer({ min: 1, max: 3_000_000 }).map((seconds) => String(seconds)),
    );
    fc.assert(
      fc.property(rawPoints, codes, place, place, (raw, code, a, b) => {
        const first = (raw[0]?.t ?? 0) - 1000;
        const span = (raw.at(-1)?.t ?? 0) - first + 2000;
        const [from, to] = [Math.floor(first + Math.min(a, b) * span), Math.floor(first + Math.max(a, b) * span)];
        expect(history(raw, code, from, to)).toEqual(reference(raw, code, from, to));
      }),
      { seed: 20_251_121, numRuns: 3000 },
    );
  });

  it('has the same point of a period in every response, so that overlapping responses agree', () => {
    let compared = 0;
    fc.assert(
      fc.property(rawPoints, fc.constantFrom(...CODES), place, place, (raw, code, a, b) => {
        const [start, end] = [raw[0]?.t ?? 0, (raw.at(-1)?.t ?? 0) + 10_000_000];
        const whole = new Map(history(raw, code, start - 1, end)?.map(({ t, p }) => [t, p]));
        const at = (share: number) => Math.floor(start + share * (end - start));
        const part = history(raw, code, at(Math.min(a, b)), at(Math.max(a, b))) ?? [];
        for (const { t, p } of part.slice(1, -1)) expect(whole.get(t)).toBe(p);
        compared += Math.max(0, part.length - 2);
      }),
      { seed: 7, numRuns: 500 },
    );
    expect(compared).toBeGreaterThan(1000);
  });

  it('begins with the anchor: from, and the last chance at or before it [6.2/rule-1]', () => {
    const raw = [
      { t: 100, p: 0.1 },
      { t: 110, p: 0.2 },
      { t: 120, p: 0.3 },
    ];
    expect(history(raw, undefined, 110, 130)).toEqual([
      { t: 110, p: 0.2 },
      { t: 120, p: 0.3 },
    ]);
    expect(history(raw, undefined, 115.9, 130)?.[0]).toEqual({ t: 115, p: 0.2 });
  });

  it('returns a flat line of two points for a range without a change, also when it ends in the future [6.2/rule-2]', () => {
    const raw = [{ t: 100, p: 0.1 }];
    for (const code of [undefined, ...CODES, '17']) {
      expect(history(raw, code, 5_000_000, 9_999_999_999)).toEqual([
        { t: 5_000_000, p: 0.1 },
        { t: 9_999_999_999, p: 0.1 },
      ]);
    }
    expect(history(raw, undefined, 200, 200)).toEqual([
      { t: 200, p: 0.1 },
      { t: 200, p: 0.1 },
    ]);
  });

  it('is empty for a range wholly before the market opened, and has no anchor for one that begins before', () => {
    const raw = [
      { t: 1000, p: 0.4 },
      { t: 1003, p: 0.6 },
    ];
    for (const code of [undefined, ...CODES]) expect(history(raw, code, 10, 999)).toEqual([]);
    expect(history(raw, undefined, 10, 2000)).toEqual(raw);
    expect(history(raw, '5s', 10, 2000)).toEqual([{ t: 1005, p: 0.6 }]);
    expect(history(raw, '1d', 10, 2000)).toEqual([{ t: 2000, p: 0.6 }]);
  });

  it('aligns periods to the Unix epoch, with the period end as t, and skips periods without a change', () => {
    const raw = [
      { t: 0, p: 0.5 },
      { t: 14, p: 0.1 },
      { t: 15, p: 0.2 },
      { t: 19, p: 0.3 },
      { t: 31, p: 0.4 },
    ];
    expect(history(raw, '5s', 5, 40)).toEqual([
      { t: 5, p: 0.5 },
      { t: 15, p: 0.1 },
      { t: 20, p: 0.3 },
      { t: 35, p: 0.4 },
    ]);
    expect(history(raw, '7', 5, 40)?.map(({ t }) => t)).toEqual([5, 7, 21, 35]);
    expect(history(raw, '1s', 15, 20)?.map(({ t }) => t)).toEqual([15, 16, 20]);
  });

  it('excludes a period that ends after to, and includes the current one once to reaches its end', () => {
    const raw = [
      { t: 0, p: 0.5 },
      { t: 12, p: 0.1 },
    ];
    expect(history(raw, '5s', 5, 14)).toEqual([
      { t: 5, p: 0.5 },
      { t: 14, p: 0.1 },
    ]);
    expect(history(raw, '5s', 5, 15)?.at(-1)).toEqual({ t: 15, p: 0.1 });
  });

  it('reads 1m as calendar months in UTC and 7d as weeks since the epoch', () => {
    const at = (text: string) => Date.parse(text) / 1000;
    const raw = [
      { t: at('2024-01-31T23:59:59Z'), p: 0.1 },
      { t: at('2024-02-29T12:00:00Z'), p: 0.2 },
      { t: at('2024-12-31T00:00:00Z'), p: 0.3 },
    ];
    expect(history(raw, '1m', at('2024-01-31T23:59:59Z'), at('2025-06-01T00:00:00Z'))).toEqual([
      { t: at('2024-01-31T23:59:59Z'), p: 0.1 },
      { t: at('2024-02-01T00:00:00Z'), p: 0.1 },
      { t: at('2024-03-01T00:00:00Z'), p: 0.2 },
      { t: at('2025-01-01T00:00:00Z'), p: 0.3 },
    ]);
    const week = history(raw, '7d', at('2024-02-29T12:00:00Z'), at('2024-04-01T00:00:00Z'));
    expect(week?.at(-1)).toEqual({ t: at('2024-03-07T00:00:00Z'), p: 0.2 });
  });

  it('refuses more than 10,000 points, anchor included, and allows exactly 10,000', () => {
    const raw = Array.from({ length: MAX_HISTORY_POINTS + 1 }, (_, i) => ({ t: i, p: (i % 99) / 100 }));
    const direct = (from: number, to: number, code?: string) =>
      chanceHistory((s) => raw[Math.min(Math.floor(s), raw.length - 1)], {
        period: code === undefined ? { unit: 'raw' } : period(code),
        from,
        to,
      });
    expect(direct(1, MAX_HISTORY_POINTS)).toHaveLength(MAX_HISTORY_POINTS);
    expect(direct(0, MAX_HISTORY_POINTS)).toBeUndefined();
    expect(direct(0, MAX_HISTORY_POINTS, '1s')).toBeUndefined();
    expect(direct(0, MAX_HISTORY_POINTS, '5s')).toHaveLength(MAX_HISTORY_POINTS / 5 + 1);
  });

  it('accepts the codes in exact case, and any whole number of seconds [6.2/rule-3]', () => {
    const known = [...CODES, '1', '60', '90', '86400', '9999999999'];
    expect(known.filter((code) => parsePeriod(code) === undefined)).toEqual([]);
    const unknown = ['', '0', '-5', '05', '1.5', '1S', '5m', '1h', '1D', '7D', '1M', '2s', '1e3', ' 5', '5 ', 'raw'];
    expect(unknown.filter((code) => parsePeriod(code) !== undefined)).toEqual([]);
    expect(parsePeriod('1m')).not.toEqual(parsePeriod('60'));
    expect(parsePeriod('300')).toEqual(parsePeriod('5M'));
  });
});
