/** Texts up to this size are parsed whatever they hold: the worst of them is parsed within tens of milliseconds. */
const UNBOUNDED_BYTES = 256 * 1024;
/**
 * Brackets, colons and commas outside strings: about the values and names that parsing makes. A point of chance history
 * takes 5, an entry of an order book snapshot 9: this is a little more than the longest history, 10,000 points, of six
 * markets in one answer. `npm run bench -- large-frames` measures what parsing takes at this bound.
 */
const MOST_MARKS = 320_000;
/**
 * Different names, and different texts that are as short as most names: every one of them is kept in a table when it is
 * parsed, and objects that all have other names take far longer than as many alike. Honest answers name a few fields,
 * and where markets are the names of a map, as many as there are markets.
 */
const MOST_NAMES = 25_000;
/** The parser keeps texts up to this length as it keeps names. */
const SHORT_TEXT = 10;
const MOST_DEPTH = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Why a JSON text would take too long to parse, like `holds more than …`; undefined when it may be parsed. Looks at the
 * bytes once and at nothing of small texts; whether they are JSON is not looked at.
 */
export function jsonExcess(bytes: Uint8Array, start = 0, end = bytes.length): string | undefined {
  if (end - start <= UNBOUNDED_BYTES) return undefined;
  const names = new Names();
  let marks = 0;
  let depth = 0;
  /** Where the last text begins that was not counted, and where it ends: a colon will tell that it was a name. */
  let pending: number | undefined;
  let closed = 0;
  for (let at = start; at < end; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const opened = at + 1;
        for (at = opened; at < end && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at += 1;
        pending = opened;
        closed = at;
        if (closed - opened <= SHORT_TEXT) {
          names.add(bytes, opened, closed);
          pending = undefined;
        }
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        marks += 1;
        depth += 1;
        if (depth > MOST_DEPTH) return `is nested more than ${MOST_DEPTH} deep`;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth -= 1;
        break;
      case COLON:
        marks += 1;
        if (pending !== undefined) names.add(bytes, pending, closed);
        pending = undefined;
        break;
      case COMMA:
        marks += 1;
        break;
    }
    if (marks > MOST_MARKS) return `holds more than ${MOST_MARKS} brackets, colons and commas`;
    if (names.count > MOST_NAMES) return `holds more than ${MOST_NAMES} different names and short texts`;
  }
  return undefined;
}

/** FNV-1a. */
const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;
/** Bits of a hash that tell names apart: a few of many thousands count as one. */
const HASH_BITS = 20;

/** Counts different texts, nearly: in the same way wherever the same text is looked at. */
class Names {
  count = 0;
  readonly #seen = new Uint8Array(1 << (HASH_BITS - 3));

  add(bytes: Uint8Array, from: number, to: number): void {
    let hash = HASH_BASIS;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), HASH_PRIME);
    const slot = (hash ^ (hash >>> HASH_BITS)) & ((1 << HASH_BITS) - 1);
    const bit = 1 << (slot & 7);
    const seen = this.#seen[slot >>> 3] ?? 0;
    if ((seen & bit) !== 0) return;
    this.#seen[slot >>> 3] = seen | bit;
    this.count += 1;
  }
}
