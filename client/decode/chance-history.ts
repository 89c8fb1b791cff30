import { expected, joinJsonPath } from '../wire/validation-issue.js';
import { type ChancePoint, decodePoints } from './chance-point.js';
import { NO_PAGE, unwrapList } from './list.js';
import {
  type DecodedList,
  ExtraFields,
  type InvalidBody,
  InvalidEntries,
  invalid,
  isObject,
  type PageInfo,
} from './result.js';

/**
 * The response of the chance history endpoint, part 4.5: an array of points in any list wrapper, or (as on the stream,
 * part 6.2) a map from outcome ID to points. The first point is the anchor, and a range without data is a flat line of two
 * points (part 6.2, rules 1 and 2); both are returned unchanged.
 * @param marketId selects the array of a map; without it, a map must have exactly one
 */
export function decodeChanceHistory(body: unknown, marketId?: string): DecodedList<ChancePoint> | InvalidBody {
  const list = unwrapList(body);
  if (list.ok) return listOf(list.items, list.path, list.page);
  if (!isObject(body) || 'i' in body || 'content' in body) return list;
  const keys = Object.keys(body);
  const key =
    marketId !== undefined && Object.hasOwn(body, marketId) ? marketId : keys.length === 1 ? keys[0] : undefined;
  if (key === undefined) return invalid('', 'expected a list of points, or a map that holds the points of the outcome');
  const points = body[key];
  if (!Array.isArray(points)) return invalid(joinJsonPath('', key), expected('a list of points', points));
  return listOf(points, joinJsonPath('', key), NO_PAGE);
}

function listOf(list: readonly unknown[], path: string, page: PageInfo): DecodedList<ChancePoint> {
  const bad = new InvalidEntries();
  const items = decodePoints(list, path, bad);
  return {
    ok: true,
    items,
    invalidEntries: bad.entries,
    invalidEntriesOmitted: bad.omitted,
    page,
    extraFields: extraOf(list),
  };
}

function extraOf(points: readonly unknown[]): readonly string[] {
  const extra = new ExtraFields();
  for (const point of points) if (isObject(point)) extra.add(point, { t: 0, p: 0 });
  return extra.list();
}
