import { type Blocks, Series } from '../store/index.js';
import type { Account, Histories, LiveOrder, Market, MarketEvent, Tpsl } from './entities.js';
import { Ids } from './ids.js';
import { WIDTH } from './records.js';

/** The whole state of the exchange. Only commands change it. */
export class State {
  readonly ids: Ids;
  readonly usdcId: string;
  /** By number. */
  readonly accounts: Account[] = [];
  readonly events: MarketEvent[] = [];
  readonly markets: Market[] = [];
  readonly accountsByEmail = new Map<string, Account>();
  readonly accountsByKey = new Map<string, Account>();
  readonly accountsById = new Map<string, Account>();
  readonly eventsById = new Map<string, MarketEvent>();
  readonly marketsById = new Map<string, Market>();
  readonly openEvents = new Set<MarketEvent>();
  /** Resting orders of all books, by number. */
  readonly orders = new Map<number, LiveOrder>();
  /** Active take-profit and stop-loss orders of all markets, by number. */
  readonly tpsl = new Map<number, Tpsl>();
  /** Numbers of the accounts opened from the seed, in order. */
  readonly seeded = { account: [] as number[], bot: [] as number[] };
  lastOrder = 0;
  lastTpsl = 0;
  lastTransaction = 0;
  lastAt = 0;
  deposits = 0;
  withdrawals = 0;
  /** Taker fees paid so far, micros. */
  fees = 0;

  constructor(
    readonly seed: number,
    public takerFeeBps: number,
    readonly blocks: Blocks,
    readonly fills: Series = new Series(blocks, WIDTH.fill),
    readonly prices: Series = new Series(blocks, WIDTH.price),
  ) {
    this.ids = new Ids(seed);
    this.usdcId = this.ids.id('coin', 0);
  }

  newHistories(): Histories {
    return {
      orders: new Series(this.blocks, WIDTH.order),
      trades: new Series(this.blocks, WIDTH.trade),
      transactions: new Series(this.blocks, WIDTH.transaction),
      tpsl: new Series(this.blocks, WIDTH.tpsl),
    };
  }

  addAccount(account: Account): void {
    this.accounts.push(account);
    this.accountsById.set(account.userId, account);
    this.accountsByEmail.set(account.email.toLowerCase(), account);
    if (account.credentials.apiKey) this.accountsByKey.set(account.credentials.apiKey.key, account);
  }

  addEvent(event: MarketEvent): void {
    this.events.push(event);
    this.eventsById.set(event.eventId, event);
    for (const market of event.markets) {
      this.markets.push(market);
      this.marketsById.set(market.marketId, market);
    }
    if (event.open) this.openEvents.add(event);
  }

  accountAt(number: number): Account {
    return known(this.accounts[number], 'account', number);
  }

  marketAt(number: number): Market {
    return known(this.markets[number], 'market', number);
  }
}

/** @throws RangeError when the journal or a snapshot refers to something that does not exist, which only a bug can cause */
export function known<T>(value: T | undefined, what: string, number: number): T {
  if (value === undefined) throw new RangeError(`${what} ${number} does not exist`);
  return value;
}
