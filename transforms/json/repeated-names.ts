import { joinJsonPath, type ValidationIssue } from '../../client/index.js';
import { type Member, membersOf, walkJson } from './json-members.js';

/** An object of a body that gives one name more than once: parsing keeps the last value and forgets the others. */
export interface RepeatedName extends ValidationIssue {
  readonly keys: readonly (string | number)[];
}

/** With more of them the body is not understood as a whole. */
const MOST_PLACES = 100;
const SHOWN = 40;

/**
 * The objects of a body that name something twice, outermost ones only.
 * @param names how many names the body's text has, when that is known: it tells at once that there are none
 * @param body what the text was parsed to
 */
export function repeatedNames(
  bodyText: () => string,
  names: number | undefined,
  body: unknown,
): readonly RepeatedName[] {
  if (typeof body !== 'object' || body === null) return NONE;
  const bytes = names === undefined ? Buffer.from(bodyText()) : undefined;
  if ((bytes ? namesIn(bytes) : names) === countNames(body)) return NONE;
  const found: RepeatedName[] = [];
  let places = 0;
  walkJson(bytes ?? Buffer.from(bodyText()), body, ({ keys, repeats }) => {
    if (repeats === undefined) return true;
    // Inner ones come first: this one holds them.
    while (found.length > 0 && keys.every((key, i) => found.at(-1)?.keys[i] === key)) found.pop();
    found.push({
      keys: [...keys],
      path: keys.reduce(joinJsonPath, ''),
      reason: `names ${JSON.stringify(repeats.slice(0, SHOWN))} more than once`,
    });
    places += 1;
    return places <= MOST_PLACES;
  });
  if (found.length > 0 && places <= MOST_PLACES) return found;
  const where = places === 0 ? 'nested absurdly deep' : `in more than ${MOST_PLACES} places`;
  return [{ keys: [], path: '', reason: `gives names more than once, ${where}` }];
}

/** Puts null where these objects are. */
export function blank(body: unknown, repeated: readonly RepeatedName[]): void {
  for (const { keys } of repeated) {
    const parent = keys
      .slice(0, -1)
      .reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], body);
    const last = keys.at(-1);
    if (last !== undefined && typeof parent === 'object' && parent !== null) Reflect.set(parent, last, null);
  }
}

const NONE: readonly RepeatedName[] = Object.freeze([]);

/** How many names the objects of a JSON text have. */
function namesIn(text: Buffer): number {
  const member: Member | undefined = membersOf(Buffer.concat([WRAPPER, text, Buffer.from('}')])).get('');
  return member?.[2] ?? 0;
}
const WRAPPER = Buffer.from('{"":');

/** How many names the objects of a parsed value have. */
function countNames(root: object): number {
  let names = 0;
  // A stack of our own: what is nested ever so deep must not exhaust the call stack.
  const stack: object[] = [root];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (Array.isArray(next)) {
      for (const value of next) if (typeof value === 'object' && value !== null) stack.push(value);
      continue;
    }
    for (const name in next) {
      names += 1;
      const value: unknown = (next as Readonly<Record<string, unknown>>)[name];
      if (typeof value === 'object' && value !== null) stack.push(value);
    }
  }
  return names;
}
