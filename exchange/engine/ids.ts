/** Kinds of IDs. The number is part of every ID ever issued and never changes. */
const ID_KINDS = {
  event: 1,
  market: 2,
  asset: 3,
  account: 4,
  order: 5,
  trade: 6,
  tradeRecord: 7,
  transaction: 8,
  tpsl: 9,
  category: 10,
  coin: 11,
  apiKey: 12,
} as const;
type IdKind = keyof typeof ID_KINDS;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const HEX = Array.from({ length: 65536 }, (_, i) => i.toString(16).padStart(4, '0'));
const ROUNDS = 27;

/**
 * UUIDs (in the form of version 4) that encode a kind and a number; the same seed gives the same IDs. Kind and number are
 * encrypted with a key derived from the seed, so an ID reveals neither, and decoding needs no table.
 */
export class Ids {
  readonly #keys: Int32Array;
  #low = 0;
  #high = 0;

  constructor(seed: number) {
    this.#keys = schedule(seed);
  }

  /** @param number 0 to 2^53 - 1 */
  id(kind: IdKind, number: number): string {
    const low = number % 0x1_0000_0000;
    const high = (number - low) / 0x1_0000_0000 + ID_KINDS[kind] * 0x20_0000;
    return this.#text(low | 0, high | 0);
  }

  /** The number that an ID encodes; undefined when it is not an ID of this seed and kind. */
  number(kind: IdKind, id: string): number | undefined {
    if (!UUID.test(id)) return undefined;
    const first = Number.parseInt(id.slice(0, 8), 16) | 0;
    const second = (Number.parseInt(id.slice(9, 13), 16) << 16) | Number.parseInt(id.slice(24, 28), 16) | 0;
    this.#decipher(first, second);
    const low = this.#low >>> 0;
    const high = this.#high >>> 0;
    if (Math.floor(high / 0x20_0000) !== ID_KINDS[kind]) return undefined;
    if (this.#text(low | 0, high | 0) !== id) return undefined;
    return (high % 0x20_0000) * 0x1_0000_0000 + low;
  }

  #text(low: number, high: number): string {
    this.#encipher(low, high);
    const a = this.#low;
    const b = this.#high;
    // Sixty check bits computed from the first two words: they expose an invented ID.
    this.#encipher(a ^ 0x5bd1e995, b ^ 0x27d4eb2f);
    const c = this.#low;
    const d = this.#high;
    const version = HEX[0x4000 | ((d >>> 16) & 0x0fff)];
    const variant = HEX[0x8000 | (d & 0x3fff)];
    return `${HEX[a >>> 16]}${HEX[a & 0xffff]}-${HEX[b >>> 16]}-${version}-${variant}-${HEX[b & 0xffff]}${HEX[c >>> 16]}${HEX[c & 0xffff]}`;
  }

  /** The Speck 64/128 block cipher: small, fast, and a permutation. */
  #encipher(low: number, high: number): void {
    let x = high | 0;
    let y = low | 0;
    for (let i = 0; i < ROUNDS; i++) {
      x = ((((x >>> 8) | (x << 24)) + y) ^ (this.#keys[i] as number)) | 0;
      y = ((y << 3) | (y >>> 29)) ^ x;
    }
    this.#low = y;
    this.#high = x;
  }

  #decipher(low: number, high: number): void {
    let x = high | 0;
    let y = low | 0;
    for (let i = ROUNDS - 1; i >= 0; i--) {
      y = y ^ x;
      y = (y >>> 3) | (y << 29);
      x = ((x ^ (this.#keys[i] as number)) - y) | 0;
      x = (x << 8) | (x >>> 24);
    }
    this.#low = y;
    this.#high = x;
  }
}

function schedule(seed: number): Int32Array {
  const parts = [0, 1, 2].map((i) => mix((seed + 0x9e3779b9 * (i + 1)) | 0, Math.floor(seed / 0x1_0000_0000)));
  const keys = new Int32Array(ROUNDS);
  let key = mix(seed | 0, 0x1f123bb5);
  for (let i = 0; i < ROUNDS; i++) {
    keys[i] = key;
    const part = parts[i % 3] as number;
    const next = ((((part >>> 8) | (part << 24)) + key) ^ i) | 0;
    parts[i % 3] = next;
    key = ((key << 3) | (key >>> 29)) ^ next;
  }
  return keys;
}

function mix(a: number, b: number): number {
  let h = (a ^ Math.imul(b | 0, 0x85ebca6b)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) | 0;
}
