import type { InvalidEntry } from '../../client/index.js';
import { MAX_WALKED, walkJson } from './walk-json.js';

/**
 * The texts of bad entries of a body, character for character. Objects are found by what they were parsed to, everything
 * else by its path. A long body is not searched, and is not nested deep (`jsonExcess`): there the texts are made from what
 * the entries were parsed to.
 * @param body what the text was parsed to, and what the entries were taken from
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
