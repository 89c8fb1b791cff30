import type { Account, Market } from './entities.js';
import type { Outbox } from './outbox.js';
import { encodePrice, encodeTransaction } from './records.js';
import type { State } from './state.js';
import type { TransactionType } from './types.js';
import { balanceView } from './views.js';

const USDC = -1;

/** Records the effects of a command: price changes, chance points and transactions in the state, events for listeners. */
export class Changes {
  #touched = new Map<Account, Set<number>>();

  constructor(
    readonly state: State,
    readonly outbox: Outbox,
  ) {}

  /** The account's USDC balance changed. */
  touchUsdc(account: Account): void {
    if (this.outbox.hasListeners('balance')) this.#touch(account, USDC);
  }

  touchShares(account: Account, asset: number): void {
    if (this.outbox.hasListeners('balance')) this.#touch(account, asset);
  }

  /** Publishes the market's chance and best prices if any of the three has changed since they were last published. */
  publish(market: Market, at: number): void {
    const { published, chance, book } = market;
    const { bestBid, bestAsk } = book;
    const moved = chance !== published.chance;
    if (!moved && bestBid === published.bestBid && bestAsk === published.bestAsk) return;
    market.published = { chance, bestBid, bestAsk };
    if (moved) this.#recordChance(market, at);
    const record = { at, market: market.number, chance, bestBid, bestAsk };
    const seq = this.state.prices.append(encodePrice(record)) + 1;
    if (!this.outbox.hasListeners('price')) return;
    const { marketId, event } = market;
    const change = { chance, bestBid: bestBid / 100, bestAsk: bestAsk / 100, at };
    this.outbox.push('price', { seq, eventId: event.eventId, marketId, ...change });
  }

  transaction(account: Account, type: TransactionType, amount: number, at: number, asset = 0): number {
    const number = ++this.state.lastTransaction;
    return account.histories.transactions.append(encodeTransaction({ number, at, type, asset, amount }));
  }

  /** Emits one event per balance that the command changed. */
  flushBalances(at: number): void {
    if (this.#touched.size === 0) return;
    for (const [account, assets] of this.#touched) {
      for (const asset of assets) {
        this.outbox.push('balance', balanceView(this.state, account, asset === USDC ? null : asset, at));
      }
    }
    this.#touched = new Map();
  }

  #touch(account: Account, asset: number): void {
    const assets = this.#touched.get(account) ?? new Set();
    this.#touched.set(account, assets);
    assets.add(asset);
  }

  #recordChance(market: Market, at: number): void {
    const second = Math.floor(at / 1_000_000);
    const { chances, chance } = market;
    const last = chances.length - 1;
    if (last >= 0 && chances.read(last)[0] === second) chances.update(last, [second, chance]);
    else chances.append([second, chance]);
  }
}
