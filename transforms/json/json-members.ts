/** Where a member of a JSON object is in its text: from the first byte of the value to past its last. */
export type Member = readonly [start: number, end: number, names: number];
/** By name. `names` is how many names the objects in the value have, those given twice counted twice. */
export type Members = ReadonlyMap<string, Member>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Finds the members of the object that `bytes` hold, so that a value can be kept as it was written. The text must be
 * valid JSON of an object: nothing is checked. Of a name given twice the last one counts, as it does when parsed.
 * @param most members that are looked at
 * @throws SyntaxError for a name that is no JSON
 */
export function membersOf(bytes: Buffer, most = Number.POSITIVE_INFINITY): Members {
  const members = new Map<string, Member>();
  let at = skipSpace(bytes, skipSpace(bytes, 0) + 1);
  for (let n = 0; n < most && bytes[at] === QUOTE; n++) {
    const nameEnd = skipString(bytes, at);
    const name = nameAt(bytes, at, nameEnd);
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const value = skipValue(bytes, start);
    members.set(name, [start, value.end, value.names]);
    at = skipSpace(bytes, value.end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** A value in a JSON text, and what it was parsed to. */
export interface JsonPlace {
  /** From the first byte to past the last. */
  readonly start: number;
  readonly end: number;
  /** Names and indices that lead to it from the root. Valid during the visit. */
  readonly keys: readonly (string | number)[];
  readonly value: unknown;
  /** A name that the object has more than once. */
  readonly repeats: string | undefined;
}

/** Values that are nested deeper than this are not visited. */
const MOST_DEPTH = 256;

/**
 * Visits every value of a valid JSON text, inner ones first, until `visit` answers false.
 * @param root what the text was parsed to
 */
export function walkJson(bytes: Buffer, root: unknown, visit: (place: JsonPlace) => boolean): void {
  const keys: (string | number)[] = [];
  let goesOn = true;
  /** Answers the end of the value. */
  const walk = (start: number, value: unknown): number => {
    const first = bytes[start];
    let end: number;
    let repeats: string | undefined;
    if ((first === OPEN_OBJECT || first === OPEN_ARRAY) && keys.length < MOST_DEPTH) {
      [end, repeats] = first === OPEN_OBJECT ? walkObject(start, value) : [walkArray(start, value), undefined];
    } else {
      end = skipValue(bytes, start).end;
    }
    if (goesOn) goesOn = visit({ start, end, keys, value, repeats });
    return end;
  };
  const walkObject = (start: number, value: unknown): [end: number, repeats: string | undefined] => {
    const seen = new Set<string>();
    let repeats: string | undefined;
    let at = skipSpace(bytes, start + 1);
    while (goesOn && bytes[at] === QUOTE) {
      const nameEnd = skipString(bytes, at);
      const name = nameAt(bytes, at, nameEnd);
      if (seen.has(name)) repeats ??= name;
      seen.add(name);
      keys.push(name);
      at = walk(skipSpace(bytes, skipSpace(bytes, nameEnd) + 1), childOf(value, name));
      keys.pop();
      at = skipSpace(bytes, at);
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    }
    return [at + 1, repeats];
  };
  const walkArray = (start: number, value: unknown): number => {
    let at = skipSpace(bytes, start + 1);
    for (let index = 0; goesOn && at < bytes.length && bytes[at] !== CLOSE_ARRAY; index++) {
      keys.push(index);
      at = skipSpace(bytes, walk(at, childOf(value, index)));
      keys.pop();
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    }
    return at + 1;
  };
  walk(skipSpace(bytes, 0), root);
}

function childOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[key];
}

/** @param from the opening quote */
function nameAt(bytes: Buffer, from: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', from, end)) as string;
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

function skipValue(bytes: Buffer, from: number): { readonly end: number; readonly names: number } {
  const first = bytes[from];
  if (first === QUOTE) return { end: skipString(bytes, from), names: 0 };
  let at = from;
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    while (at < bytes.length && !endsScalar(bytes[at])) at += 1;
    return { end: at, names: 0 };
  }
  let depth = 0;
  let names = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at += 1;
    if (byte === COLON) names += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) break;
  }
  return { end: at, names };
}

const endsScalar = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || isSpace(byte);
