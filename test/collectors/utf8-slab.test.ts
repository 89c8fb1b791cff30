import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Utf8Slab } from '../../collectors/utf8-slab.js';

const UNITS = ['a', '\0', '\n', 'é', '€', '界', '😀', '\ud83d', '\ude00', '\uffff', '\u{10ffff}'];
/** Units: the most that a slab is begun for, the most that one has room for for sure, and as many as it has bytes. */
const EDGES = [10_922, 87_381, 262_144];

const short = fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 40 });
const long = fc
  .record({
    pattern: fc.string({ unit: fc.constantFrom(...UNITS), minLength: 1, maxLength: 5 }),
    // Also what fills a slab in a few steps.
    length: fc.oneof(...[2000, ...EDGES].map((edge) => fc.integer({ min: edge - 3, max: edge + 3 }))),
  })
  .map(({ pattern, length }) => pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length));

it('encodes any text as UTF-8, without changing earlier results', () => {
  const texts = fc.array(fc.oneof(short, fc.string({ unit: 'binary' }), { arbitrary: long, weight: 2 }), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(texts, (all) => {
      const slab = new Utf8Slab();
      const encoded = all.map((text) => slab.encode(text));
      expect(encoded.every((bytes, i) => bytes.equals(Buffer.from(all[i] ?? '', 'utf8')))).toBe(true);
    }),
  );
});
