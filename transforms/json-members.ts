/** Where the members of a JSON object are in its text: by name, from the first byte of the value to past its last. */
export type Members = ReadonlyMap<string, readonly [start: number, end: number]>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;

/**
 * Finds the members of the object that `bytes` hold, so that a value can be kept as it was written. The text must be
 * valid JSON of an object: nothing is checked. Of a name given twice the last one counts, as it does when parsed.
 * @param most members that are looked at
 * @throws SyntaxError for a name that is no JSON
 */
export function membersOf(bytes: Buffer, most = Number.POSITIVE_INFINITY): Members {
  const members = new Map<string, readonly [number, number]>();
  let at = skipSpace(bytes, skipSpace(bytes, 0) + 1);
  for (let n = 0; n < most && bytes[at] === QUOTE; n++) {
    const nameEnd = skipString(bytes, at);
    const name = JSON.parse(bytes.toString('utf8', at, nameEnd)) as string;
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = skipValue(bytes, start);
    members.set(name, [start, end]);
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return members;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** @param from the opening quote */
function skipString(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function skipValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return skipString(bytes, from);
  let at = from;
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== CLOSE_OBJECT && !isSpace(bytes[at])) at += 1;
    return at;
  }
  let depth = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at += 1;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return at;
  }
  return at;
}
