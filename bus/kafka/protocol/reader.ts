/** Reads a response body in Kafka's binary encoding. A body that ends too early throws a RangeError. */
export class Reader {
  #at = 0;

  constructor(private readonly buffer: Buffer) {}

  /** The complete body. */
  get all(): Buffer {
    return this.buffer;
  }

  int8(): number {
    this.#at += 1;
    return this.buffer.readInt8(this.#at - 1);
  }

  boolean(): boolean {
    return this.int8() !== 0;
  }

  int16(): number {
    this.#at += 2;
    return this.buffer.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.buffer.readInt32BE(this.#at - 4);
  }

  /** Exact up to 2^53, which offsets and producer IDs do not reach. */
  int64(): number {
    const high = this.int32();
    this.#at += 4;
    return high * 2 ** 32 + this.buffer.readUInt32BE(this.#at - 4);
  }

  unsignedVarint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.buffer.readUInt8(this.#at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  nullableString(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.bytes(length).toString('utf8');
  }

  string(): string {
    return this.nullableString() ?? '';
  }

  compactString(): string {
    return this.bytes(Math.max(0, this.unsignedVarint() - 1)).toString('utf8');
  }

  /** A view of the next bytes. */
  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.buffer.length) throw new RangeError(`a response is ${end - this.buffer.length} bytes too short`);
    const view = this.buffer.subarray(this.#at, end);
    this.#at = end;
    return view;
  }

  sizedBytes(): Buffer {
    return this.bytes(Math.max(0, this.int32()));
  }

  compactBytes(): Buffer {
    return this.bytes(Math.max(0, this.unsignedVarint() - 1));
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  array<T>(each: (reader: this) => T): T[] {
    return this.#items(this.int32(), each);
  }

  compactArray<T>(each: (reader: this) => T): T[] {
    return this.#items(this.unsignedVarint() - 1, each);
  }

  /** Skips the tagged fields that end every structure of a flexible version. */
  tags(): void {
    for (let left = this.unsignedVarint(); left > 0; left--) {
      this.unsignedVarint();
      this.bytes(this.unsignedVarint());
    }
  }

  #items<T>(length: number, each: (reader: this) => T): T[] {
    const items: T[] = [];
    for (let i = 0; i < length; i++) items.push(each(this));
    return items;
  }
}
