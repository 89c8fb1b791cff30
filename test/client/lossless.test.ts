import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonNumber, parseIsoMicros, parseLossless } from '../../client/index.js';
import { describeValue, instantSchema, stringifyLossless, toDecimal } from '../../client/wire/index.js';

/** Sign, digits and exponent of a number's text, by big integers, without doubles. */
function exact(text: string): [bigint, bigint] {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text.replace(/^\+/, '')) ?? [];
  const power = BigInt(exponent) - BigInt(fraction.length);
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return power >= 0n ? [digits * 10n ** power, 1n] : [digits, 10n ** -power];
}

const equal = (one: string, other: string): boolean => {
  const [a, b] = exact(one);
  const [c, d] = exact(other);
  return a * d === c * b;
};

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 });
const numberText = fc
  .tuple(fc.boolean(), digits, fc.option(digits), fc.option(fc.integer({ min: -25, max: 25 })), fc.boolean())
  .map(([negative, whole, fraction, exponent, big]) => {
    const integer = whole.replace(/^0+(?=\d)/, '');
    const power = exponent === null ? '' : `${big ? 'E' : 'e'}${exponent > 0 && big ? '+' : ''}${exponent}`;
    return `${negative ? '-' : ''}${integer}${fraction === null ? '' : `.${fraction}`}${power}`;
  });

describe('numbers of a JSON text', () => {
  it('retain every digit, where a double would round them', () => {
    const text = '{"a":0.1000000000000000055511151231257827,"b":[12345678901234567890.000001],"c":-0,"d":1E400}';
    expect(parseLossless(text)).toEqual({
      a: new JsonNumber('0.1000000000000000055511151231257827'),
      b: [new JsonNumber('12345678901234567890.000001')],
      c: new JsonNumber('-0'),
      d: new JsonNumber('1E400'),
    });
  });

  it('are unchanged in any JSON, and everything else is as with JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const body = { body: parseLossless(text) };
        expect(JSON.parse(stringifyLossless(body))).toEqual({ body: JSON.parse(text) });
      }),
    );
  });

  it('take the last value of a repeated key, and treat __proto__ as an ordinary key', () => {
    expect(parseLossless('{"a":1,"a":{"b":2}}')).toEqual({ a: { b: new JsonNumber('2') } });
    const body = parseLossless('{"__proto__":{"polluted":true}}') as unknown as Record<string, unknown>;
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
    expect(body['polluted']).toBeUndefined();
  });

  it('are shown as numbers in reasons and in dead letters', () => {
    expect(describeValue(new JsonNumber('1.50'))).toBe('number 1.50');
    expect(describeValue(new JsonNumber('1'.repeat(500))).length).toBeLessThan(60);
    expect(JSON.stringify([new JsonNumber('5'), new JsonNumber('0.10000000000000000001')])).toBe(
      '[5,"0.10000000000000000001"]',
    );
  });
});

describe('a decimal', () => {
  it('is exactly the number, in its only form without exponent, plus sign and redundant zeros', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        const decimal = toDecimal(text) ?? '';
        expect(equal(decimal, text)).toBe(true);
        expect(decimal).toMatch(/^(0|-?(0\.\d*[1-9]|[1-9]\d*(\.\d*[1-9])?))$/);
      }),
    );
  });

  it('is the same text for the same amount in any notation', () => {
    fc.assert(
      fc.property(numberText, fc.nat({ max: 20 }), (text, zeros) => {
        const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
        const longer = `${mantissa.includes('.') ? mantissa : `${mantissa}.`}${'0'.repeat(zeros)}e${exponent}`;
        expect(toDecimal(longer)).toBe(toDecimal(text));
      }),
    );
  });

  it.each([
    ['0.10', '0.1'],
    ['1e3', '1000'],
    ['-0.0', '0'],
    ['+3', '3'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-1.5e-3', '-0.0015'],
    ['1e-99', `0.${'0'.repeat(98)}1`],
  ])('%s is %s', (text, decimal) => {
    expect(toDecimal(text)).toBe(decimal);
  });

  it.each([
    '',
    '.',
    '-',
    'e5',
    '1e',
    '0x10',
    ' 1',
    '1 ',
    '1,5',
    'NaN',
    'Infinity',
    '1e101',
    '1e-101',
    '1e999999999',
    '9'.repeat(201),
  ])('is not %j', (text) => {
    expect(toDecimal(text)).toBeUndefined();
  });
});

describe('a time', () => {
  it('is parsed to the microsecond, in any time zone [2/timestamps]', () => {
    const instant = fc.date({ min: new Date(0), max: new Date('2299-12-31T00:00:00Z'), noInvalidDate: true });
    fc.assert(
      fc.property(instant, fc.nat({ max: 999 }), (date, micros) => {
        const text = date.toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
        expect(parseIsoMicros(text)).toBe(date.getTime() * 1000 + micros);
      }),
    );
  });

  it.each([
    ['2025-11-21T10:00:00Z', '2025-11-21T10:00:00.000Z'],
    ['2025-11-21T10:00:00+02:00', '2025-11-21T08:00:00.000Z'],
    ['2025-11-21T10:00:00.5-0130', '2025-11-21T11:30:00.500Z'],
    ['2025-11-21T10:00', '2025-11-21T10:00:00.000Z'],
    ['2025-11-21 10:00:00.123', '2025-11-21T10:00:00.123Z'],
    ['2025-11-21', '2025-11-21T00:00:00.000Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseIsoMicros(text)).toBe(Date.parse(iso) * 1000);
  });

  it.each([
    '',
    'now',
    '2025-02-29',
    '2025-13-01',
    '2025-01-01T24:00:00Z',
    '2025-01-01T00:60Z',
    '0075-01-01',
    '1763690000',
  ])('is not %j', (text) => {
    expect(parseIsoMicros(text)).toBeUndefined();
  });

  it('may be epoch milliseconds, as in the sample of an order record [2/timestamps]', () => {
    const micros = (json: string) => instantSchema.parse(parseLossless(json));
    expect(micros('1763690000123')).toBe(1_763_690_000_123_000);
    expect(micros('"1763690000123"')).toBe(1_763_690_000_123_000);
    expect(micros('1763690000123.456')).toBe(1_763_690_000_123_456);
    for (const json of ['-1', '1e30', '"1969-12-31"', '"2300-06-01"', '{}', 'true', '99999999999999999999', '"x"'])
      expect(() => micros(json)).toThrow('expected a time in ISO 8601 or epoch milliseconds');
  });
});
