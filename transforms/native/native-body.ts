/** Assembles one block of ClickHouse's Native format: a header, then its columns. */
export class NativeBody {
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(columns: number, rows: number) {
    this.#push(Buffer.concat([varint(columns), varint(rows)]));
  }

  /** Adds a column whose values have the layout of Native format already (little-endian), in one or several pieces. */
  column(name: string, type: string, ...pieces: readonly ArrayBufferView[]): void {
    this.#push(Buffer.concat([text(name), text(type)]));
    for (const piece of pieces) this.#push(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
  }

  /**
   * Adds a LowCardinality column: the dictionary's encoded entries, and one key per row.
   * @param keys values below `entries.length`
   */
  dictionaryColumn(name: string, type: string, entries: readonly Uint8Array[], keys: Uint32Array): void {
    const width = entries.length <= 0x100 ? 0 : entries.length <= 0x10000 ? 1 : 2;
    const narrow = width === 0 ? Uint8Array.from(keys) : width === 1 ? Uint16Array.from(keys) : keys;
    // Format version; key width, and flags: a dictionary follows, and it replaces the previous one.
    const header = [u64(1), u64(width | HAS_ADDITIONAL_KEYS | NEED_UPDATE_DICTIONARY), u64(entries.length)];
    this.#push(Buffer.concat([text(name), text(type), ...header, ...entries, u64(keys.length)]));
    this.#push(new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength));
  }

  finish(): Buffer {
    const body = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      body.set(part, at);
      at += part.length;
    }
    return body;
  }

  #push(part: Uint8Array): void {
    this.#parts.push(part);
    this.#bytes += part.length;
  }
}

const HAS_ADDITIONAL_KEYS = 1 << 9;
const NEED_UPDATE_DICTIONARY = 1 << 10;

/** A String as a dictionary entry: its length, then its bytes. */
export function stringEntry(bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** A Float64 as a dictionary entry. */
export function floatEntry(value: number): Buffer {
  const entry = Buffer.allocUnsafe(8);
  entry.writeDoubleLE(value);
  return entry;
}

function text(value: string): Buffer {
  return stringEntry(Buffer.from(value, 'utf8'));
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value);
  return bytes;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
