import type { EventView, ExchangeCore, MarketView, Outcome } from '../../engine/index.js';

/** The event and market that a record is about. */
export interface Place {
  readonly event: EventView;
  readonly market: MarketView;
}

/** Looks up what the records of one answer are about, each event once. */
export class Places {
  readonly #events = new Map<string, EventView>();

  constructor(private readonly core: Pick<ExchangeCore, 'event' | 'asset'>) {}

  of({ eventId, marketId }: { readonly eventId: string; readonly marketId: string }): Place {
    const event = this.#events.get(eventId) ?? this.core.event(eventId);
    const market = event?.markets.find((m) => m.marketId === marketId);
    if (!event || !market) throw new Error(`a record is about market ${marketId}, which does not exist`);
    this.#events.set(eventId, event);
    return { event, market };
  }

  /** Of an outcome asset; undefined for USDC. */
  ofAsset(assetId: string): (Place & { readonly outcome: Outcome }) | undefined {
    const asset = this.core.asset(assetId);
    return asset && { ...this.of(asset), outcome: asset.outcome };
  }
}

/** The current price of an outcome asset, 0..1: the market's chance, or what is left of 1. */
export const priceNow = ({ chance }: MarketView, outcome: Outcome): number =>
  outcome === 'YES' ? chance : Math.round((1 - chance) * 1e6) / 1e6;

/** What held shares are worth at the current price, micros. */
export const valueMicros = (market: MarketView, outcome: Outcome, hundredths: number): number =>
  Math.round(priceNow(market, outcome) * hundredths * 10_000);
