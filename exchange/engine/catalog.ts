import type { MarketEvent } from './entities.js';
import type { Ids } from './ids.js';
import { slugOf } from './slug.js';
import type { Category, Coin, Tag } from './types.js';

const TREE: readonly [name: string, children: readonly string[]][] = [
  ['Politics', ['Elections', 'Legislation', 'Local Government']],
  ['Economy', ['Inflation', 'Interest Rates', 'Employment']],
  ['Technology', ['Artificial Intelligence', 'Space', 'Gadgets']],
  ['Sports', ['Football', 'Tennis', 'Motor Racing', 'Sailing']],
  ['Weather', ['Storms', 'Temperature']],
  ['Culture', ['Film', 'Music', 'Television']],
  ['Crypto', []],
];

/** Slugs of all categories, nested ones included. */
export const CATEGORY_SLUGS: ReadonlyMap<string, string | null> = new Map(
  TREE.flatMap(([name, children]) => [
    [slugOf(name), null] as const,
    ...children.map((child) => [slugOf(child), slugOf(name)] as const),
  ]),
);

export function categoryTree(ids: Ids): Category[] {
  let next = 0;
  const category = (name: string, parentId: string | null) => {
    const id = ids.id('category', next++);
    return { id, name, slug: slugOf(name), parentId };
  };
  return TREE.map(([name, children]) => {
    const top = category(name, null);
    return { ...top, children: children.map((child) => ({ ...category(child, top.id), children: [] })) };
  });
}

/** Tags of open events, the most used first, then by name. */
export function popularTags(events: Iterable<MarketEvent>): Tag[] {
  const uses = new Map<string, number>();
  for (const event of events) for (const tag of event.tags) uses.set(tag, (uses.get(tag) ?? 0) + 1);
  const sorted = [...uses].sort(([a, usesOfA], [b, usesOfB]) => usesOfB - usesOfA || (a < b ? -1 : 1));
  return sorted.map(([name], i) => ({ name, rank: i + 1 }));
}

/** USDC first; the other coins are listed but have no balances. */
export function coinList(ids: Ids, at: number): Coin[] {
  const coins = [
    ['USD Coin', 'USDC', 1, 6, 2],
    ['Test Bitcoin', 'TBTC', 64_250.5, 8, 5],
    ['Test Ether', 'TETH', 3_180.25, 18, 4],
  ] as const;
  return coins.map(([name, ticker, usdRate, fullDecimals, shortDecimals], i) => ({
    coinId: ids.id('coin', i),
    name,
    ticker,
    usdRate,
    usdRateAt: at,
    fullDecimals,
    shortDecimals,
    status: 'ACTIVE',
    system: i === 0,
    collateral: i === 0,
  }));
}
