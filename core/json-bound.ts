/** Texts up to this size are parsed whatever they hold: the worst of them is parsed within tens of milliseconds. */
const UNBOUNDED_BYTES = 256 * 1024;
/**
 * Brackets, colons and commas outside strings: about the values and names that parsing makes. Worst are objects that
 * all have other names, of which this many marks hold over 200,000; `npm run bench -- large-frames` measures them. A point of chance history takes 5, an entry of an order
 * book snapshot 9: honest answers of megabytes have less.
 */
const MOST_MARKS = 600_000;
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
  let marks = 0;
  let depth = 0;
  for (let at = start; at < end; at++) {
    switch (bytes[at]) {
      case QUOTE:
        for (at += 1; at < end && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at += 1;
        break;
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
      case COMMA:
      case COLON:
        marks += 1;
        break;
    }
    if (marks > MOST_MARKS) return `holds more than ${MOST_MARKS} brackets, colons and commas`;
  }
  return undefined;
}
