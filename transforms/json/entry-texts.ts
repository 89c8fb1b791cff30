import type { InvalidEntry } from '../../client/index.js';
import { MAX_WALKED, walkJson } from './walk-json.js';

/**
 * The exact texts of invalid entries of a body. Objects are located by their parsed value, other values by their path. A
 * long body is not searched: its texts are encoded from the parsed values, which are not nested deep (`jsonExcess`).
 * @param body the parsed text; it contains the entries
 */
export function entryTexts(
  bodyText: string,
  body: unknown,
  entries: readonly InvalidEntry[],
): ReadonlyMap<InvalidEntry, string> {
  if (bodyText.length > MAX_WALKED) return new Map(entries.map((entry) => [entry, JSON.stringify(entry.value)]));
  const texts = new Map<InvalidEntry, string>();
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
  walkJson(bodyText, body, ({ start, end, value, path }) => {
    const entry = objects.get(value) ?? scalars.get(value)?.get(path() ?? '');
    if (entry) texts.set(entry, bodyText.slice(start, end));
    return texts.size < entries.length;
  });
  return texts;
}
