import { expected, joinJsonPath } from '../wire/validation-issue.js';
import {
  type DecodedList,
  ExtraFields,
  type InvalidBody,
  InvalidEntries,
  invalid,
  isObject,
  numberOrNull,
  type PageInfo,
} from './result.js';

/** An unwrapped list of items that are not decoded yet. */
interface UnwrappedList {
  readonly ok: true;
  readonly items: readonly unknown[];
  /** Path of the items in the body: empty, `i` or `content`. */
  readonly path: '' | 'i' | 'content';
  readonly page: PageInfo;
}

/** Unwraps a list from any documented wrapper: `[…]`, `{i,p,s,tp}`, `{i,p,s,t}`, `{content,…}`. */
export function unwrapList(body: unknown): UnwrappedList | InvalidBody {
  if (Array.isArray(body)) return { ok: true, items: body, path: '', page: NO_PAGE };
  if (!isObject(body)) return invalid('', expected('a list, or an object that wraps one', body));
  if (Array.isArray(body['content'])) {
    const page: PageInfo = {
      page: numberOrNull(body['number'] ?? body['page']),
      size: numberOrNull(body['size']),
      totalPages: numberOrNull(body['totalPages']),
      totalItems: numberOrNull(body['totalElements']),
    };
    return { ok: true, items: body['content'], path: 'content', page };
  }
  if (Array.isArray(body['i'])) {
    const page: PageInfo = {
      page: numberOrNull(body['p']),
      size: numberOrNull(body['s']),
      totalPages: numberOrNull(body['tp']),
      totalItems: numberOrNull(body['t']),
    };
    return { ok: true, items: body['i'], path: 'i', page };
  }
  const name = 'content' in body ? 'content' : 'i';
  return invalid(name, expected('a list', body[name]));
}

export const NO_PAGE: PageInfo = { page: null, size: null, totalPages: null, totalItems: null };

/** Receives the output of a list's decoder. */
export interface ListSink<T> {
  readonly items: T[];
  readonly invalid: InvalidEntries;
  readonly extra: ExtraFields;
}

/** Decodes every item of a list in any wrapper; `decode` adds the valid and invalid parts to the sink. */
export function decodeList<T>(
  body: unknown,
  decode: (value: unknown, index: number, path: string, sink: ListSink<T>) => void,
): DecodedList<T> | InvalidBody {
  const list = unwrapList(body);
  if (!list.ok) return list;
  const sink: ListSink<T> = { items: [], invalid: new InvalidEntries(), extra: new ExtraFields() };
  for (const [index, value] of list.items.entries()) {
    if (!sink.invalid.skips(value)) decode(value, index, joinJsonPath(list.path, index), sink);
  }
  const { entries, omitted } = sink.invalid;
  return {
    ok: true,
    items: sink.items,
    invalidEntries: entries,
    invalidEntriesOmitted: omitted,
    page: list.page,
    extraFields: sink.extra.list(),
  };
}
