import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDecimal12 } from '../../core/index.js';
import { Connection, logTable, RowBinaryWriter } from '../../warehouse/index.js';
import { useClickHouse } from '../support/clickhouse.js';

const context = useClickHouse();
let connection: Connection;

/** One column of every type the writer knows. */
const everything = logTable({
  name: 'everything',
  columns: [
    ['u8', 'UInt8'],
    ['u16', 'UInt16'],
    ['u32', 'UInt32'],
    ['i32', 'Int32'],
    ['u64', 'UInt64'],
    ['big', 'UInt64'],
    ['i64', 'Int64'],
    ['flag', 'Bool'],
    ['f64', 'Float64'],
    ['maybe_f64', 'Nullable(Float64)'],
    ['text', 'String'],
    ['low', 'LowCardinality(String)'],
    ['maybe_text', 'Nullable(String)'],
    ['bytes', 'String'],
    ['texts', 'Array(String)'],
    ['at', "DateTime64(6, 'UTC')"],
    ['second', "DateTime('UTC')"],
    ['money', 'Decimal(38, 12)'],
    ['units', 'Decimal(38, 12)'],
    ['id', 'UUID'],
  ],
});

const decimalText = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 26n - 1n }),
    fc.nat({ max: 999_999_999_999 }),
    fc.nat({ max: 12 }),
  )
  .map(([negative, whole, fraction, digits]) => {
    const decimals = String(fraction).padStart(12, '0').slice(0, digits);
    return `${negative ? '-' : ''}${whole}${decimals ? `.${decimals}` : ''}`;
  });
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary-ascii', minLength: 50, maxLength: 400 }),
  fc.constantFrom('', 'a'.repeat(63), 'a'.repeat(64), 'ü'.repeat(63), `${'a'.repeat(62)}é`, '\0', "'\\\n\t"),
);
const row = fc.record({
  u8: fc.nat({ max: 255 }),
  u16: fc.nat({ max: 65_535 }),
  u32: fc.nat({ max: 0xffff_ffff }),
  i32: fc.integer(),
  u64: fc.maxSafeNat(),
  big: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  i64: fc.maxSafeInteger(),
  flag: fc.boolean(),
  f64: fc.double({ noNaN: true }),
  maybe_f64: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  text,
  low: text,
  maybe_text: fc.option(text),
  bytes: text,
  texts: fc.array(text, { maxLength: 200, size: 'small' }),
  // 1900 to 2261: what DateTime64(6) holds.
  at: fc.integer({ min: -2_208_988_800_000_000, max: 9_000_000_000_000_000 }),
  second: fc.nat({ max: 0xffff_ffff }),
  money: decimalText,
  units: fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
  id: fc.uuid(),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

function encode(w: RowBinaryWriter, offset: number, r: Row): void {
  w.string('log');
  w.u32(0);
  w.u64(offset);
  w.u32(0);
  w.u8(r.u8);
  w.u16(r.u16);
  w.u32(r.u32);
  w.i32(r.i32);
  w.u64(r.u64);
  w.u64(r.big);
  w.i64(r.i64);
  w.bool(r.flag);
  w.f64(r.f64);
  w.nullableF64(r.maybe_f64);
  w.string(r.text);
  w.string(r.low);
  w.nullableString(r.maybe_text);
  const source = Buffer.from(`<${r.bytes}>`);
  w.stringBytes(source, 1, source.length - 1);
  w.strings(r.texts);
  w.dateTime64Micros(r.at);
  w.dateTime(r.second);
  w.decimal12(r.money);
  w.decimal12(r.units);
  w.uuid(r.id);
}

/** The expected result of ClickHouse for a row, everything as text; floats as the bits of their value. */
function expected(r: Row): Record<string, unknown> {
  return {
    u8: String(r.u8),
    u16: String(r.u16),
    u32: String(r.u32),
    i32: String(r.i32),
    u64: String(r.u64),
    big: String(r.big),
    i64: String(r.i64),
    flag: String(r.flag),
    f64: bits(r.f64),
    maybe_f64: r.maybe_f64 === null ? 'null' : bits(r.maybe_f64),
    text: r.text,
    low: r.low,
    maybe_text: r.maybe_text,
    bytes: r.bytes,
    texts: r.texts,
    at: String(r.at),
    second: String(r.second),
    money: String(parseDecimal12(r.money)),
    units: String(r.units),
    id: r.id.toLowerCase(),
  };
}

function bits(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return String(view.getBigUint64(0));
}

const SELECT = `
  SELECT toString(u8) AS u8, toString(u16) AS u16, toString(u32) AS u32, toString(i32) AS i32, toString(u64) AS u64,
    toString(big) AS big, toString(i64) AS i64, toString(flag) AS flag, toString(reinterpretAsUInt64(e.f64)) AS f64,
    if(isNull(e.maybe_f64), 'null', toString(reinterpretAsUInt64(assumeNotNull(e.maybe_f64)))) AS maybe_f64,
    text, low, maybe_text, bytes, texts, toString(toUnixTimestamp64Micro(e.at)) AS at,
    toString(toUnixTimestamp(e.second)) AS second,
    toString(toInt256(e.money * toDecimal256('1000000000000', 0))) AS money,
    toString(toInt256(e.units * toDecimal256('1000000000000', 0))) AS units, toString(e.id) AS id
  FROM values.everything AS e ORDER BY _offset`;

beforeAll(async () => {
  connection = new Connection({ endpoint: context.clickhouse.endpoint.owner, database: 'values', application: 'test' });
  await connection.command('CREATE DATABASE values');
  const columns = everything.columns.map((c) => `${c.name} ${c.type}`).join(', ');
  await connection.command(`CREATE TABLE values.everything (${columns}) ENGINE = MergeTree ORDER BY _offset`);
});
afterAll(() => connection.close());

describe('RowBinary', () => {
  it('is read by ClickHouse with the written value, for every type', async () => {
    let query = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), fc.nat({ max: 300 }), async (rows, capacity) => {
        const writer = new RowBinaryWriter(capacity);
        rows.forEach((r, i) => {
          encode(writer, i, r);
        });
        query += 1;
        await connection.command('TRUNCATE TABLE values.everything');
        await connection.insert(
          { table: everything, rows: rows.length, body: writer.take() },
          { queryId: `q${query}`, settings: { async_insert: 0 } },
        );
        expect(await connection.query(SELECT)).toEqual(rows.map(expected));
      }),
      { numRuns: 25, seed: 7 },
    );
  });

  it('does not change taken bytes when the next rows are written', () => {
    const writer = new RowBinaryWriter();
    writer.string('first');
    const first = writer.take();
    writer.string('other');
    expect(first.toString('latin1')).toBe('\x05first');
    expect(writer.take().toString('latin1')).toBe('\x05other');
  });

  it('removes a row that failed', () => {
    const writer = new RowBinaryWriter();
    writer.u8(1);
    const before = writer.length;
    expect(() => {
      writer.string('half a row');
      writer.decimal12('0.0000000000001');
    }).toThrow('has more than 12 decimals');
    writer.truncate(before);
    expect(writer.take()).toEqual(Buffer.from([1]));
  });

  it('refuses values that cannot be encoded exactly', () => {
    const writer = new RowBinaryWriter();
    for (const value of [1.5, 2 ** 53, Number.NaN, -1])
      expect(() => writer.u64(value), String(value)).toThrow(RangeError);
    for (const value of [0.1, -(2 ** 53)]) expect(() => writer.i64(value), String(value)).toThrow(RangeError);
    for (const id of [
      '',
      'x'.repeat(36),
      '0c9dd2a9-6cf0-4c0e-8f4e-3b6e5a1c2d3g',
      '0c9dd2a9+6cf0-4c0e-8f4e-3b6e5a1c2d3e',
    ]) {
      expect(() => writer.uuid(id), id).toThrow(RangeError);
    }
    expect(writer.length).toBe(0);
  });
});

describe('decimal text', () => {
  it('becomes exact units, in any form', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
        fc.integer({ min: -20, max: 20 }),
        (units, shift) => {
          const digits = String(units < 0n ? -units : units);
          const sign = units < 0n ? '-' : '';
          const padded = digits.padStart(13, '0');
          expect(parseDecimal12(`${sign}${padded.slice(0, -12)}.${padded.slice(-12)}`)).toBe(units);
          expect(parseDecimal12(`${sign}${digits}e-12`)).toBe(units);
          const zeros = '0'.repeat(Math.max(0, shift));
          expect(parseDecimal12(`${sign}${digits}${zeros}E${-12 - zeros.length}`)).toBe(units);
        },
      ),
    );
  });

  it('is refused when it does not fit or is not a number', () => {
    for (const bad of [
      '',
      '.5',
      '5.',
      '1e',
      '0x1',
      ' 1',
      '1 ',
      '--1',
      '+1',
      'NaN',
      'Infinity',
      '1_000',
      '1'.repeat(300),
    ]) {
      expect(() => parseDecimal12(bad), bad).toThrow(/not a decimal number/);
    }
    for (const big of ['1e26', `${10n ** 26n}`, '1e9999', `-${10n ** 26n}.0`]) {
      expect(() => parseDecimal12(big), big).toThrow('does not fit Decimal(38, 12)');
    }
    for (const fine of ['1e-13', '0.0000000000001', '1.0000000000005']) {
      expect(() => parseDecimal12(fine), fine).toThrow('has more than 12 decimals');
    }
    expect(parseDecimal12('0.10000000000000000000')).toBe(10n ** 11n);
    expect(parseDecimal12('0e9999')).toBe(0n);
    expect(parseDecimal12('-0')).toBe(0n);
  });
});
