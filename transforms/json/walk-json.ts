import { createScanner } from 'jsonc-parser';
import { joinJsonPath } from '../../client/index.js';

/** A value in a JSON text, and its parsed form. */
interface LocatedValue {
  /** Range in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** A repeated name of the object. */
  readonly repeated: string | undefined;
  /** Its path, like `d[3].b`; undefined when it is nested deeper than any path of a decoder. */
  readonly path: () => string | undefined;
}

/**
 * Maximum length of a text that may be walked: a megabyte of white space or escapes takes the scanner 130 ms, and their
 * number in a body is unlimited.
 */
export const MAX_WALKED = 256 * 1024;
const MAX_PATH_DEPTH = 20;

/** An object or array whose end has not been reached. */
interface Container {
  readonly start: number;
  readonly value: unknown;
  /** Key of the current child; undefined before the name of an object's member. */
  key: string | number | undefined;
  /** Undefined for an array. */
  readonly names: Set<string> | undefined;
  repeated: string | undefined;
}

/**
 * Visits every value of a valid JSON text in post-order, until `visit` returns false. Not recursive: nesting may be deeper
 * than the call stack allows.
 * @param root the parsed text
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
