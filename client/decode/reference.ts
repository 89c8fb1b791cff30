import { categorySchema } from '../wire/category.js';
import { coinSchema } from '../wire/coin.js';
import { tagSchema } from '../wire/tag.js';
import { explainIssue, joinJsonPath } from '../wire/validation-issue.js';
import { decodeList, type ListSink } from './list.js';
import type { DecodedList, InvalidBody } from './result.js';

/** A category; subcategories follow their parent in the list. Absent fields are null. */
export interface Category {
  readonly categoryId: string;
  readonly name: string | null;
  readonly slug: string | null;
  readonly parentId: string | null;
  /** 0 for a category at the top of the tree. */
  readonly depth: number;
}

/** A popular tag. */
export interface Tag {
  readonly name: string;
  readonly popularityRank: number | null;
}

/** A coin. Absent fields are null. */
export interface Coin {
  readonly coinId: string;
  readonly name: string | null;
  readonly ticker: string | null;
  readonly usdRate: number | null;
  /** ISO 8601, as sent. */
  readonly usdRateAt: string | null;
  readonly fullDecimals: number | null;
  readonly displayDecimals: number | null;
  readonly status: string | null;
  readonly iconUrl: string | null;
  readonly systemCoin: boolean | null;
  /** Whether it may be used as prediction-market collateral. */
  readonly collateral: boolean | null;
}

interface Pending {
  readonly value: unknown;
  readonly path: string;
  readonly parentId: string | null;
  readonly depth: number;
}

/** The tree of `GET /api/categories`, part 4.5, as a list in depth-first order. */
export function decodeCategories(body: unknown): DecodedList<Category> | InvalidBody {
  return decodeList<Category>(body, (value, index, path, sink) => {
    // An explicit stack: a deeply nested tree must not exhaust the call stack.
    const stack: Pending[] = [{ value, path, parentId: null, depth: 0 }];
    for (let next = stack.pop(); next; next = stack.pop()) takeCategory(next, index, stack, sink);
  });
}

function takeCategory(next: Pending, index: number, stack: Pending[], sink: ListSink<Category>): void {
  if (sink.invalid.skips(next.value)) return;
  const parsed = categorySchema.safeParse(next.value);
  if (!parsed.success) {
    sink.invalid.push({ index, ...explainIssue(parsed.error, next.value, next.path), value: next.value });
    return;
  }
  const { i: categoryId, n, s, pi, sc } = parsed.data;
  sink.extra.add(parsed.data, categorySchema.shape);
  sink.items.push({
    categoryId,
    name: n ?? null,
    slug: s ?? null,
    parentId: pi ?? next.parentId,
    depth: next.depth,
  });
  const within = joinJsonPath(next.depth > MAX_PATH_DEPTH ? '…' : next.path, 'sc');
  const children = (sc ?? []).map((value, n) => ({
    value,
    path: `${within}[${n}]`,
    parentId: categoryId,
    depth: next.depth + 1,
  }));
  for (const child of children.reverse()) stack.push(child);
}

/** Maximum depth of a path; a deeper one has only its end, so that paths of a very deep tree do not fill the memory. */
const MAX_PATH_DEPTH = 16;

/** The list of `GET /api/tags/popular`, part 4.5. */
export function decodeTags(body: unknown): DecodedList<Tag> | InvalidBody {
  return decodeList<Tag>(body, (value, index, path, sink) => {
    const parsed = tagSchema.safeParse(value);
    if (!parsed.success) {
      sink.invalid.push({ index, ...explainIssue(parsed.error, value, path), value });
      return;
    }
    sink.extra.add(parsed.data, tagSchema.shape);
    sink.items.push({ name: parsed.data.n, popularityRank: parsed.data.r ?? null });
  });
}

/** The list of `GET /api/coins`, part 4.3. */
export function decodeCoins(body: unknown): DecodedList<Coin> | InvalidBody {
  return decodeList<Coin>(body, (value, index, path, sink) => {
    const parsed = coinSchema.safeParse(value);
    if (!parsed.success) {
      sink.invalid.push({ index, ...explainIssue(parsed.error, value, path), value });
      return;
    }
    const wire = parsed.data;
    sink.extra.add(wire, coinSchema.shape);
    sink.items.push({
      coinId: wire.i,
      name: wire.n ?? null,
      ticker: wire.sn ?? null,
      usdRate: wire.ur ?? null,
      usdRateAt: wire.urd ?? null,
      fullDecimals: wire.dpf ?? null,
      displayDecimals: wire.dps ?? null,
      status: wire.ac ?? null,
      iconUrl: wire.iu ?? null,
      systemCoin: wire.sc ?? null,
      collateral: wire.pmc ?? null,
    });
  });
}
