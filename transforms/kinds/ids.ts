import type { RecordOutput } from '../record/record-output.js';

/** The interface's IDs have 36 characters; much longer ones would only fill dictionaries. */
const MOST_ID = 256;

/** Half of a character, which UTF-8 cannot hold: as rows, IDs that differ in such halves would be the same. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** Whether an ID is of a sane length and whole characters; else it becomes a dead letter of `path`. */
export function isSaneId(id: string, path: string, output: RecordOutput): boolean {
  if (id.length > MOST_ID) {
    output.dead({ path, reason: `expected an ID of at most ${MOST_ID} characters, got ${id.length}` }, id);
    return false;
  }
  if (!HALF_CHARACTER.test(id)) return true;
  output.dead({ path, reason: 'expected an ID of whole characters, got half of one' }, JSON.stringify(id));
  return false;
}

/** The same for the IDs of one record, by their names on the wire; what was not said is fine. */
export function areSaneIds(ids: Readonly<Record<string, string | null>>, output: RecordOutput): boolean {
  return Object.entries(ids).every(([path, id]) => isSaneId(id ?? '', path, output));
}
