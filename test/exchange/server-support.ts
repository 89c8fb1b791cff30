import { randomUUID } from 'node:crypto';
import type { EventView, ExchangeCore, MarketView } from '../../exchange/engine/index.js';

/** Two accounts that trade in a market at a given price. */
export class Traders {
  readonly #maker: string;
  readonly #taker: string;

  constructor(private readonly core: ExchangeCore) {
    const open = (email: string) => {
      const opened = core.openAccount({ email, passwordHash: 'none', depositMicros: 1_000_000_000_000 });
      if (!opened.ok) throw new Error(opened.rejection.message);
      return opened.value.userId;
    };
    this.#maker = open(`maker-${randomUUID()}@test.example`);
    this.#taker = open(`taker-${randomUUID()}@test.example`);
  }

  /** Puts a bid (BUY YES) into the book; answers its order ID. */
  bid(market: MarketView, cents: number, hundredths = 1000): string {
    return this.#limit(this.#maker, market, market.yesAssetId, cents, hundredths);
  }

  /** Places an ask in YES terms (BUY NO at the complement); returns its order ID. */
  ask(market: MarketView, cents: number, hundredths = 1000): string {
    return this.#limit(this.#maker, market, market.noAssetId, 100 - cents, hundredths);
  }

  cancel(orderId: string): void {
    const done = this.core.cancel(this.#maker, orderId);
    if (!done.ok) throw new Error(done.rejection.message);
  }

  /** One fill at the price, in an empty book: the book is empty again afterwards. */
  trade(market: MarketView, cents: number, hundredths = 1000): void {
    this.ask(market, cents, hundredths);
    this.#limit(this.#taker, market, market.yesAssetId, cents, hundredths);
  }

  #limit(userId: string, market: MarketView, assetId: string, price: number, quantity: number): string {
    const { eventId, marketId } = market;
    const placed = this.core.placeLimit({ userId, eventId, marketId, assetId, side: 'BUY', price, quantity });
    if (!placed.ok) throw new Error(placed.rejection.message);
    return placed.value.orderId;
  }
}

/** Opens an event with markets of these opening chances. */
export function openEvent(core: ExchangeCore, title: string, chances: readonly number[], more: object = {}): EventView {
  const category = core.categories()[0]?.slug ?? '';
  const markets = chances.map((chance, n) => ({ name: `${title} ${n}`, chance }));
  const opened = core.openEvent({ title, category, tags: [], markets, ...more });
  if (!opened.ok) throw new Error(opened.rejection.message);
  return opened.value;
}

/** Opens events of one to three markets, with tags of which some have several events. */
export function openEvents(core: ExchangeCore, count: number): EventView[] {
  return Array.from({ length: count }, (_, n) => {
    const chances = Array.from({ length: 1 + (n % 3) }, () => (25 + 5 * n) / 100);
    return openEvent(core, `Event ${n}`, chances, { tags: [`tag-${n % 4}`] });
  });
}

/** The market at a place of the event's list. */
export function marketOf(event: EventView, n = 0): MarketView {
  const market = event.markets[n];
  if (!market) throw new Error(`the event has no market ${n}`);
  return market;
}
