import fc from 'fast-check';
import { expect, it } from 'vitest';
import { walkJson } from '../../transforms/json/walk-json.js';

it('visits every value of a JSON text with its text and path', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(3), (given, indent) => {
      const text = JSON.stringify(given, null, indent);
      const root: unknown = JSON.parse(text);
      const visited: unknown[] = [];
      walkJson(text, root, ({ start, end, value }) => {
        expect(JSON.parse(text.slice(start, end))).toEqual(value);
        visited.push(value);
        return true;
      });
      expect(visited).toEqual(valuesOf(root));
    }),
    { seed: 7, numRuns: 1000 },
  );
});

it('stops when visit returns false', () => {
  const paths: (string | undefined)[] = [];
  const text = '{"a":[1,{"b c":2},3]}';
  walkJson(text, JSON.parse(text), ({ path }) => paths.push(path()) < 3);
  expect(paths).toEqual(['a[0]', 'a[1]["b c"]', 'a[1]']);
});

/** Every value of a parsed text in post-order. */
function valuesOf(value: unknown): unknown[] {
  const children = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return [...children.flatMap(valuesOf), value];
}
