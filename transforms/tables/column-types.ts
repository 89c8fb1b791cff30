import type { RowBinaryWriter } from '../../warehouse/index.js';

/** A ClickHouse column type, and how one value of it is written. */
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
/** Values are whole and below 2^53. */
export const u64: ColumnType<number> = { type: 'UInt64', write: (writer, value) => writer.u64(value) };
/** A whole number that is exact in a double. */
export const i64: ColumnType<number> = { type: 'Int64', write: (writer, value) => writer.i64(value) };

export const bool: ColumnType<boolean> = { type: 'Bool', write: (writer, value) => writer.bool(value) };

/** Unix microseconds. */
export const micros: ColumnType<number> = {
  type: "DateTime64(6, 'UTC')",
  write: (writer, value) => writer.dateTime64Micros(value),
};

/** An amount as decimal text, kept exactly: see `isExact` for what fits. */
export const decimal: ColumnType<string> = {
  type: 'Decimal(38, 12)',
  write: (writer, value) => writer.decimal12(value),
};

/** A figure that was divided by the exchange (a percentage, an average): the nearest double of its decimal text. */
export const ratio: ColumnType<string> = { type: 'Float64', write: (writer, value) => writer.f64(Number(value)) };

/** Text that may be unsaid; stored empty then. */
export const textOrEmpty: ColumnType<string | null> = {
  type: 'String',
  write: (writer, value) => writer.string(value ?? ''),
};
export const nameOrEmpty: ColumnType<string | null> = {
  type: lowCardinality.type,
  write: (writer, value) => writer.string(value ?? ''),
};

/** Whole counts by name. */
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

/** One of a few names; stored as numbers from 1 in the order given. */
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
