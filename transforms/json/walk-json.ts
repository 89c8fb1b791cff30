import { createScanner } from 'jsonc-parser';
import { joinJsonPath } from '../../client/index.js';

/** A value in a JSON text, and what it was parsed to. */
interface LocatedValue {
  /** From its first UTF-16 unit to past its last. */
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** A name that the object has more than once. */
  readonly repeated: string | undefined;
  /** Where it is, like `d[3].b`; undefined when it is nested deeper than any path that a decoder names. */
  readonly path: () => string | undefined;
}

/**
 * Longer texts must not be walked: a megabyte of white space or of escapes takes the scanner 130 ms, and nothing bounds
 * how much of them a body holds.
 */
export const MAX_WALKED = 256 * 1024;
const MAX_PATH_DEPTH = 20;

/** An object or list whose end was not reached yet. */
interface Container {
  readonly start: number;
  readonly value: unknown;
  /** Of the child that is read; undefined before the name of an object's member. */
  key: string | number | undefined;
  /** Undefined for a list. */
  readonly names: Set<string> | undefined;
  repeated: string | undefined;
}

/**
 * Visits every value of a valid JSON text, inner ones before what they are in, until `visit` returns false. Does not
 * recurse: nesting may be as deep as the text is long.
 * @param root what the text was parsed to
 */
export function walkJson(text: string, root: unknown, visit: (located: LocatedValue) => boolean): void {
  const scanner = createScanner(text, true);
  const open: Container[] = [];
  const path = () => {
    if (open.length > MAX_PATH_DEPTH) return undefined;
    return open.reduce((parent, { key }) => joinJsonPath(parent, key ?? ''), '');
  };
  for (;;) {
    scanner.scan();
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    const parent = open.at(-1);
    const first = text[start];
    switch (first) {
      case undefined:
        return;
      case ':':
        break;
      case ',':
        if (parent) parent.key = typeof parent.key === 'number' ? parent.key + 1 : undefined;
        break;
      case '{':
        open.push({ start, value: childOf(parent, root), key: undefined, names: new Set(), repeated: undefined });
        break;
      case '[':
        open.push({ start, value: childOf(parent, root), key: 0, names: undefined, repeated: undefined });
        break;
      case '}':
      case ']': {
        const closed = open.pop();
        if (closed && !visit({ start: closed.start, end, value: closed.value, repeated: closed.repeated, path }))
          return;
        break;
      }
      default:
        if (parent?.names && parent.key === undefined) addName(parent, scanner.getTokenValue());
        else if (!visit({ start, end, value: childOf(parent, root), repeated: undefined, path })) return;
    }
  }
}

function addName(object: Container, name: string): void {
  object.key = name;
  if (object.names?.has(name)) object.repeated ??= name;
  else object.names?.add(name);
}

function childOf(parent: Container | undefined, root: unknown): unknown {
  if (!parent) return root;
  const { value, key = '' } = parent;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[key];
}
