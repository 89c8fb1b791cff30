import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPrefix } from '../../transforms/json/json-prefix.js';

describe('the first characters of a value', () => {
  it('are those of its JSON, and it says whether they are all', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.integer({ min: 1, max: 60 }), (value, most) => {
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        const json = JSON.stringify(parsed);
        expect(jsonPrefix(parsed, most)).toEqual({ text: json.slice(0, most), whole: json.length <= most });
      }),
      { seed: 7, numRuns: 1000 },
    );
  });
});
