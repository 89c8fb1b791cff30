import type { RecordOutput } from '../record/record-output.js';

/** The interface's IDs have 36 characters; much longer ones would fill dictionaries. */
const MAX_ID_LENGTH = 256;

/** UTF-8 cannot encode lone surrogates: IDs that differ in them only would be equal in rows. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether an ID has a valid length and no lone surrogates; otherwise it becomes a dead letter of `path`. */
export function isValidId(id: string, path: string, output: RecordOutput): boolean {
  if (id.length > MAX_ID_LENGTH) {
    output.dead({ path, reason: `expected an ID of at most ${MAX_ID_LENGTH} characters, got ${id.length}` }, id);
    return false;
  }
  if (!LONE_SURROGATE.test(id)) return true;
  output.dead({ path, reason: 'expected an ID of valid Unicode, got a lone surrogate' }, JSON.stringify(id));
  return false;
}

/** The same for the IDs of one record, by field name of the interface; null is valid. */
export function areValidIds(ids: Readonly<Record<string, string | null>>, output: RecordOutput): boolean {
  return Object.entries(ids).every(([path, id]) => isValidId(id ?? '', path, output));
}
