import type { EventView, ExchangeCore, MarketView, Outcome } from '../../engine/index.js';

/** The event and market that a record refers to. */
interface Listing {
  readonly event: EventView;
  readonly market: MarketView;
}

/** Finds the events and markets that the records of one response refer to; reads each event once. */
export class MarketLookup {
  readonly #events = new Map<string, EventView>();

  constructor(private readonly core: Pick<ExchangeCore, 'event' | 'asset'>) {}

  of({ eventId, marketId }: { readonly eventId: string; readonly marketId: string }): Listing {
    const event = this.#events.get(eventId) ?? this.core.event(eventId);
    const market = event?.markets.find((m) => m.marketId === marketId);
    if (!event || !market) throw new Error(`a record refers to market ${marketId}, which does not exist`);
    this.#events.set(eventId, event);
    return { event, market };
  }

  /** The listing of an outcome asset; undefined for USDC. */
  ofAsset(assetId: string): (Listing & { readonly outcome: Outcome }) | undefined {
    const asset = this.core.asset(assetId);
    return asset && { ...this.of(asset), outcome: asset.outcome };
  }
}

/** The current price of an outcome asset, 0..1: the market's chance for YES, its complement for NO. */
export const priceNow = ({ chance }: MarketView, outcome: Outcome): number =>
  outcome === 'YES' ? chance : Math.round((1 - chance) * 1e6) / 1e6;

/** The value of shares at the current price, micros. */
export const valueMicros = (market: MarketView, outcome: Outcome, hundredths: number): number =>
  Math.round(priceNow(market, outcome) * hundredths * 10_000);
