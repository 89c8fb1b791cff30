import type { RowBinaryWriter } from '../../warehouse/index.js';

/** A ClickHouse column type, and the encoding of its values. */
export interface ColumnType<T> {
  readonly type: string;
  write(writer: RowBinaryWriter, value: T): void;
}

export const lowCardinality: ColumnType<string> = {
  type: 'LowCardinality(String)',
  write: (writer, value) => writer.string(value),
};

export const text: ColumnType<string> = { type: 'String', write: (writer, value) => writer.string(value) };

export const texts: ColumnType<readonly string[]> = {
  type: 'Array(String)',
  write: (writer, value) => writer.strings(value),
};

export const float: ColumnType<number> = { type: 'Float64', write: (writer, value) => writer.f64(value) };

export const u16: ColumnType<number> = { type: 'UInt16', write: (writer, value) => writer.u16(value) };
export const u32: ColumnType<number> = { type: 'UInt32', write: (writer, value) => writer.u32(value) };
/** Values are integers below 2^53. */
export const u64: ColumnType<number> = { type: 'UInt64', write: (writer, value) => writer.u64(value) };
/** An integer that is exact in a double. */
export const i64: ColumnType<number> = { type: 'Int64', write: (writer, value) => writer.i64(value) };

export const bool: ColumnType<boolean> = { type: 'Bool', write: (writer, value) => writer.bool(value) };

const FIRST_MICROS = Date.UTC(1900, 0, 1) * 1000;
const END_MICROS = Date.UTC(2300, 0, 1) * 1000;

/** Whether `micros` can store it: DateTime64 covers the years 1900 to 2299. */
export const isStorableTime = (unixMicros: number): boolean => unixMicros >= FIRST_MICROS && unixMicros < END_MICROS;

/** Unix microseconds. */
export const micros: ColumnType<number> = {
  type: "DateTime64(6, 'UTC')",
  write: (writer, value) => writer.dateTime64Micros(value),
};

/** An amount as decimal text, stored exactly: see `isExact` for the range. */
export const decimal: ColumnType<string> = {
  type: 'Decimal(38, 12)',
  write: (writer, value) => writer.decimal12(value),
};

/** A quotient computed by the exchange (a percentage, an average): the double nearest to its decimal text. */
export const ratio: ColumnType<string> = { type: 'Float64', write: (writer, value) => writer.f64(Number(value)) };

/** Optional text; stored as empty when absent. */
export const textOrEmpty: ColumnType<string | null> = {
  type: 'String',
  write: (writer, value) => writer.string(value ?? ''),
};
export const nameOrEmpty: ColumnType<string | null> = {
  type: lowCardinality.type,
  write: (writer, value) => writer.string(value ?? ''),
};

/** Integer counts by name. */
export const counts: ColumnType<Readonly<Record<string, number>>> = {
  type: 'Map(LowCardinality(String), UInt64)',
  write: (writer, value) => {
    const entries = Object.entries(value);
    writer.varint(entries.length);
    for (const [name, count] of entries) {
      writer.string(name);
      writer.u64(count);
    }
  },
};

export function nullable<T>(inner: ColumnType<T>): ColumnType<T | null> {
  return {
    type: `Nullable(${inner.type})`,
    write: (writer, value) => {
      writer.nullFlag(value === null);
      if (value !== null) inner.write(writer, value);
    },
  };
}

/** An Enum8: one of a few names, numbered from 1 in the given order. */
export function oneOf<const Names extends readonly string[]>(...names: Names): ColumnType<Names[number]> {
  return {
    type: `Enum8(${names.map((name, i) => `'${name}' = ${i + 1}`).join(', ')})`,
    write: (writer, value) => {
      const position = names.indexOf(value);
      if (position < 0) throw new RangeError(`not one of ${names.join(', ')}: ${value}`);
      writer.u8(position + 1);
    },
  };
}
