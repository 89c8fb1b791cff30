import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBody, jsonExcess } from '../../core/index.js';

const MEGABYTE = 1024 * 1024;
const id = (n: number): string => `5c0f3c9e-7e7b-4d6e-9d0a-${n.toString(16).padStart(12, '0')}`;
const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const filled = (item: string): string =>
  `[${many(Math.floor((15 * MEGABYTE) / (item.length + 1)), () => item).join()}]`;
/** 15 MB of items that differ. */
function filledBy(item: (n: number) => string): string {
  const items: string[] = [];
  for (let bytes = 0, n = 0; bytes < 15 * MEGABYTE; n++) {
    const next = item(n);
    bytes += next.length + 1;
    items.push(next);
  }
  return `[${items.join()}]`;
}
const namesOf = (first: number, count: number): string =>
  `{${many(count, (k) => `"${(first + k).toString(36)}":1`).join()}}`;

describe('the parsing limits', () => {
  it.each([
    [
      'a snapshot of an event with 20,000 markets',
      { t: 'PRICES_DATA', e: id(0), d: many(20_000, (n) => ({ o: id(n), c: 0.53, b: 0.52, a: 0.54 })) },
    ],
    [
      'a page of 100 events with 100 markets each',
      {
        content: many(100, (e) => ({
          id: id(e),
          title: 'A question?',
          tags: ['a', 'b'],
          outcomes: many(100, (n) => ({ marketId: id(n), yesId: id(n), noId: id(n), name: 'A market' })),
          ma: many(100, (n) => ({
            i: id(n),
            r: [
              { i: id(n), ip: true, p: 0.53 },
              { i: id(n), ip: false, p: 0.47 },
            ],
          })),
        })),
        totalElements: 100,
        totalPages: 1,
      },
    ],
    [
      'a history of 10,000 points of six outcomes',
      {
        t: 'HISTORY_RESPONSE',
        d: Object.fromEntries(many(6, (o) => [id(o), many(10_000, (t) => ({ t: 1_763_690_000 + t, p: 0.5 }))])),
      },
    ],
    [
      'the last known chances of 20,000 markets, by market',
      { t: 'PROBABILITIES', d: Object.fromEntries(many(20_000, (o) => [id(o), { t: 1_763_690_000, p: 0.5 }])) },
    ],
    ['a text of 15 MB that is full of brackets', { r: '[{":,\\'.repeat(2_500_000) }],
  ])('lets %s pass', (_, value) => {
    const received = Buffer.from(JSON.stringify(value));
    expect(received.length).toBeGreaterThan(MEGABYTE);
    const { encoding: enc, parsed } = encodeBody(received);
    expect(enc).toBeUndefined();
    expect(parsed).toEqual(value);
  });

  it.each([
    ['empty objects', filled('{}')],
    ['empty arrays', filled('[]')],
    ['numbers', filled('1')],
    ['objects that all have other names', `[${many(1_200_000, (n) => `{"${n.toString(36)}":1}`).join()}]`],
    ['objects that all have a hundred other names', filledBy((n) => namesOf(n * 100, 100))],
    ['objects that have other names, with space before the colon', filledBy((n) => `{"a name ${n}" \n:1}`)],
    ['different short texts', filledBy((n) => `"${n.toString(36)}"`)],
    ['names of one object', `{${many(1_500_000, (n) => `"${n.toString(36)}":1`).join()}}`],
    ['arrays in each other', '['.repeat(7 * MEGABYTE) + ']'.repeat(7 * MEGABYTE)],
    ['objects in each other', `${'{"a":'.repeat(2 * MEGABYTE)}1${'}'.repeat(2 * MEGABYTE)}`],
    ['brackets without end', '['.repeat(15 * MEGABYTE)],
  ])('keeps 15 MB of %s as text, character for character, without parsing it', (_, text) => {
    const received = Buffer.from(text);
    const before = process.cpuUsage();
    const { bodyJson, encoding: enc, parsed, excess } = encodeBody(received);
    const { user, system } = process.cpuUsage(before);
    expect([enc, parsed]).toEqual(['text', undefined]);
    expect(excess).toMatch(
      /^(holds more than (320000 brackets, colons and commas|25000 different names and short texts)|is nested more than 1000 deep)$/,
    );
    expect(JSON.parse(bodyJson) === text).toBe(true);
    // Parsing any of them takes seconds.
    expect((user + system) / 1e6).toBeLessThan(1);
  });

  it('counts nothing inside strings, wherever they end', () => {
    const awkward = fc.string({ unit: fc.constantFrom('{', '[', ',', ':', '"', '\\', '}', 'a', 'é') });
    fc.assert(
      fc.property(fc.array(awkward, { minLength: 1, maxLength: 20 }), (texts) => {
        const value = many(Math.ceil(300_000 / (texts.join('').length + 3 * texts.length)), () => texts);
        expect(jsonExcess(Buffer.from(JSON.stringify(value)))).toBeUndefined();
      }),
      { numRuns: 30, seed: 3 },
    );
  });

  it('apply to the given range only', () => {
    const bytes = Buffer.from(`${filled('{}')}${' '.repeat(MEGABYTE)}`);
    expect(jsonExcess(bytes)).toBeDefined();
    expect(jsonExcess(bytes, bytes.length - MEGABYTE)).toBeUndefined();
    expect(jsonExcess(bytes, 0, 100_000)).toBeUndefined();
  });
});
