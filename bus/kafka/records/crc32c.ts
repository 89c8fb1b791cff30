/** Tables for eight bytes at a time; table k holds the checksum of a byte that is followed by k zero bytes. */
const TABLES = Array.from({ length: 8 }, () => new Int32Array(256));
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  T0[byte] = crc;
}
for (let k = 1; k < 8; k++) {
  for (let byte = 0; byte < 256; byte++) {
    const before = at(TABLES[k - 1] as Int32Array, byte);
    (TABLES[k] as Int32Array)[byte] = (before >>> 8) ^ at(T0, before & 0xff);
  }
}

function at(table: Int32Array, index: number): number {
  return table[index] as number;
}

/** CRC-32C (Castagnoli) of bytes [start, end), as an unsigned number. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1;
  let i = start;
  for (const last = end - 8; i <= last; i += 8) {
    crc ^= byteAt(bytes, i) | (byteAt(bytes, i + 1) << 8) | (byteAt(bytes, i + 2) << 16) | (byteAt(bytes, i + 3) << 24);
    crc =
      at(T7, crc & 0xff) ^
      at(T6, (crc >>> 8) & 0xff) ^
      at(T5, (crc >>> 16) & 0xff) ^
      at(T4, crc >>> 24) ^
      at(T3, byteAt(bytes, i + 4)) ^
      at(T2, byteAt(bytes, i + 5)) ^
      at(T1, byteAt(bytes, i + 6)) ^
      at(T0, byteAt(bytes, i + 7));
  }
  for (; i < end; i++) crc = (crc >>> 8) ^ at(T0, (crc ^ byteAt(bytes, i)) & 0xff);
  return ~crc >>> 0;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}
