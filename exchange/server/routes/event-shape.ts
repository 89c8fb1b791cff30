import type { EventView, MarketView } from '../../engine/index.js';
import { isoOfMicros } from '../iso-time.js';
import type { Quirks } from '../quirks.js';
import { usdc } from '../records/wire-values.js';

/** An event of event search (part 2): one of the two documented field sets, or both, and the common fields. */
export function eventToWire(event: EventView, shape: Quirks['eventShape']): Record<string, unknown> {
  return {
    ...(shape === 'runners' ? {} : { id: event.eventId, title: event.title, outcomes: event.markets.map(outcome) }),
    ...(shape === 'outcomes' ? {} : { i: event.eventId, ti: event.title, ma: event.markets.map(market) }),
    slug: event.slug,
    category: event.category,
    tags: event.tags,
    featured: event.featured,
    volume24h: usdc(event.volume24hMicros),
    totalVolume: usdc(event.totalVolumeMicros),
    liquidity: usdc(event.liquidityMicros),
    createdAt: isoOfMicros(event.createdAt),
    closesAt: isoOfMicros(event.closesAt),
  };
}

const outcome = ({ marketId, yesAssetId, noAssetId, name }: MarketView) => ({
  marketId,
  yesId: yesAssetId,
  noId: noAssetId,
  name,
});

const market = ({ marketId, yesAssetId, noAssetId, name, chance }: MarketView) => ({
  i: marketId,
  n: name,
  r: [
    { i: yesAssetId, ip: true, p: chance },
    { i: noAssetId, ip: false, p: complement(chance) },
  ],
});

/** 1 - chance, without the noise of binary fractions. */
const complement = (chance: number): number => Math.round((1 - chance) * 1e6) / 1e6;
