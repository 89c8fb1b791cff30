import { type InvalidEntry, joinJsonPath } from '../../client/index.js';
import { walkJson } from './json-members.js';

/** The text of an entry as it came: its beginning, and the length of all of it in UTF-16 units. */
export interface EntryText {
  readonly text: string;
  readonly length: number;
}

/**
 * Finds the texts of bad entries in a body. Objects are found by what they were parsed to, everything else by its path.
 * @param body what the text was parsed to, and what the entries were taken from
 * @param most UTF-16 units of each text
 */
export function entryTexts(
  bodyText: string,
  body: unknown,
  entries: readonly InvalidEntry[],
  most: number,
): ReadonlyMap<InvalidEntry, EntryText> {
  const found = new Map<InvalidEntry, EntryText>();
  const objects = new Map<unknown, InvalidEntry>();
  const scalars = new Map<unknown, Map<string, InvalidEntry>>();
  for (const entry of entries) {
    if (typeof entry.value === 'object' && entry.value !== null) {
      objects.set(entry.value, entry);
    } else {
      const paths = scalars.get(entry.value) ?? new Map<string, InvalidEntry>();
      scalars.set(entry.value, paths.set(entry.path, entry));
    }
  }
  const bytes = Buffer.from(bodyText);
  walkJson(bytes, body, ({ start, end, keys, value }) => {
    const entry = objects.get(value) ?? scalars.get(value)?.get(keys.reduce(joinJsonPath, ''));
    if (!entry) return true;
    const whole = bytes.toString('utf8', start, end);
    found.set(entry, { text: whole.slice(0, most), length: whole.length });
    return found.size < entries.length;
  });
  return found;
}
