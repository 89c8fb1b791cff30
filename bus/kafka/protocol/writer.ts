/** Builds a request body in Kafka's binary encoding. Compact forms are those of flexible request versions. */
export class Writer {
  #buffer: Buffer;
  #length = 0;

  constructor(initialBytes = 256) {
    this.#buffer = Buffer.allocUnsafe(initialBytes);
  }

  /** The bytes written so far; valid until the next write. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  int8(value: number): this {
    const at = this.#reserve(1);
    this.#buffer.writeInt8(value, at);
    return this;
  }

  boolean(value: boolean): this {
    return this.int8(value ? 1 : 0);
  }

  int16(value: number): this {
    const at = this.#reserve(2);
    this.#buffer.writeInt16BE(value, at);
    return this;
  }

  int32(value: number): this {
    const at = this.#reserve(4);
    this.#buffer.writeInt32BE(value, at);
    return this;
  }

  /** Integers from -2^53 to 2^53. */
  int64(value: number): this {
    const high = Math.floor(value / 2 ** 32);
    const at = this.#reserve(8);
    this.#buffer.writeInt32BE(high, at);
    this.#buffer.writeUInt32BE(value - high * 2 ** 32, at + 4);
    return this;
  }

  unsignedVarint(value: number): this {
    let rest = value;
    let at = this.#reserve(1);
    while (rest > 0x7f) {
      this.#buffer[at] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
      at = this.#reserve(1);
    }
    this.#buffer[at] = rest;
    return this;
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1);
    const bytes = Buffer.byteLength(value);
    this.int16(bytes);
    const at = this.#reserve(bytes);
    this.#buffer.write(value, at, 'utf8');
    return this;
  }

  compactString(value: string | null): this {
    if (value === null) return this.unsignedVarint(0);
    const bytes = Buffer.byteLength(value);
    this.unsignedVarint(bytes + 1);
    const at = this.#reserve(bytes);
    this.#buffer.write(value, at, 'utf8');
    return this;
  }

  /** A length of 32 bits, then the bytes. */
  sizedBytes(value: Uint8Array): this {
    this.int32(value.length);
    const at = this.#reserve(value.length);
    this.#buffer.set(value, at);
    return this;
  }

  uuid(value: string): this {
    const at = this.#reserve(16);
    this.#buffer.write(value.replaceAll('-', ''), at, 'hex');
    return this;
  }

  array<T>(items: readonly T[], each: (item: T, writer: this) => void): this {
    this.int32(items.length);
    for (const item of items) each(item, this);
    return this;
  }

  compactArray<T>(items: readonly T[] | null, each: (item: T, writer: this) => void): this {
    this.unsignedVarint(items === null ? 0 : items.length + 1);
    for (const item of items ?? []) each(item, this);
    return this;
  }

  /** The empty list of tagged fields that ends every structure of a flexible version. */
  noTags(): this {
    return this.unsignedVarint(0);
  }

  /** Reserves the next bytes and returns their position. It may replace `#buffer`: call it before using that. */
  #reserve(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at;
  }
}
