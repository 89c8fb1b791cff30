import type { AdminChecks } from './admin-checks.js';
import { marketOfAsset, outcomeOfAsset } from './assets.js';
import { categoryTree, coinList, popularTags } from './catalog.js';
import type { SeededAccount, Slice, SliceRequest } from './core.js';
import type { Account } from './entities.js';
import type { History } from './history.js';
import type { Machine } from './machine.js';
import type { OrderChecks } from './order-checks.js';
import { seededAccounts } from './seeded-accounts.js';
import type { State } from './state.js';
import { truthOf } from './truth.js';
import type { Truth, TruthPrice, TruthTrade } from './truth-types.js';
import type {
  AccountView,
  AssetView,
  Category,
  ChancePoint,
  Coin,
  Credentials,
  EventView,
  MarketView,
  OrderView,
  ProfileView,
  Tag,
  TpslView,
  TradeView,
  TransactionView,
} from './types.js';
import { accountView, eventView, liveOrderView, liveTpslView, marketView } from './views.js';

/** The parts that exist while the exchange is running. */
export interface Running {
  readonly machine: Machine;
  readonly state: State;
  readonly orderChecks: OrderChecks;
  readonly adminChecks: AdminChecks;
  readonly history: History;
}

/** The read-only half of the core. */
export abstract class ReadSide {
  protected abstract readonly running: Running;
  /** Number of seeded accounts of each kind. */
  protected abstract readonly counts: { readonly accounts: number; readonly bots: number };
  /** Unix micros; never before the time of the last command. */
  protected abstract at(): number;

  events(): readonly EventView[] {
    const at = this.at();
    return [...this.running.state.openEvents].map((event) => eventView(event, at));
  }

  openEventIds(): readonly string[] {
    return Array.from(this.running.state.openEvents, (event) => event.eventId);
  }

  get eventsOpened(): number {
    return this.running.state.events.length;
  }

  event(eventId: string): EventView | undefined {
    const event = this.running.state.eventsById.get(eventId);
    return event && eventView(event, this.at());
  }

  market(marketId: string): MarketView | undefined {
    const market = this.running.state.marketsById.get(marketId);
    return market && marketView(market, this.at());
  }

  asset(assetId: string): AssetView | undefined {
    const { ids, markets } = this.running.state;
    const asset = ids.number('asset', assetId);
    const market = asset === undefined ? undefined : markets[marketOfAsset(asset)];
    if (asset === undefined || !market) return undefined;
    return { assetId, eventId: market.event.eventId, marketId: market.marketId, outcome: outcomeOfAsset(asset) };
  }

  categories(): readonly Category[] {
    return categoryTree(this.running.state.ids);
  }

  tags(): readonly Tag[] {
    return popularTags(this.running.state.openEvents);
  }

  coins(): readonly Coin[] {
    return coinList(this.running.state.ids, this.at());
  }

  get usdcId(): string {
    return this.running.state.usdcId;
  }

  account(userId: string): AccountView | undefined {
    return this.#view(this.running.state.accountsById.get(userId));
  }

  accountByEmail(email: string): AccountView | undefined {
    return this.#view(this.running.state.accountsByEmail.get(email.toLowerCase()));
  }

  apiKeyHolder(key: string): { readonly userId: string; readonly credentials: Credentials } | undefined {
    return this.running.state.accountsByKey.get(key);
  }

  profile(userId: string): ProfileView | undefined {
    const account = this.running.state.accountsById.get(userId);
    if (!account) return undefined;
    const { username, joinedAt, volume, tradesByMarket } = account;
    return { userId, username, joinedAt, volumeMicros: volume, marketsTraded: tradesByMarket.size };
  }

  credentials(userId: string): Credentials | undefined {
    return this.running.state.accountsById.get(userId)?.credentials;
  }

  seededAccounts(): readonly SeededAccount[] {
    return seededAccounts(this.running.state, 'account', this.counts.accounts);
  }

  botAccounts(): readonly SeededAccount[] {
    return seededAccounts(this.running.state, 'bot', this.counts.bots);
  }

  activeOrders(userId: string, marketId?: string): readonly OrderView[] {
    const { state } = this.running;
    const views: OrderView[] = [];
    for (const order of state.accountsById.get(userId)?.orders.values() ?? []) {
      if (marketId !== undefined && order.market.marketId !== marketId) continue;
      views.push(liveOrderView(state, order, 'ACTIVE', 0));
    }
    return views;
  }

  orders(userId: string, slice: SliceRequest): Slice<OrderView> {
    return this.#slice(userId, (account) => this.running.history.orders(account, slice));
  }

  trades(userId: string, slice: SliceRequest): Slice<TradeView> {
    return this.#slice(userId, (account) => this.running.history.trades(account, slice));
  }

  transactions(userId: string, slice: SliceRequest): Slice<TransactionView> {
    return this.#slice(userId, (account) => this.running.history.transactions(account, slice));
  }

  activity(slice: SliceRequest): Slice<TradeView> {
    return this.running.history.activity(slice);
  }

  tpslOrders(userId: string): readonly TpslView[] {
    const account = this.running.state.accountsById.get(userId);
    return account ? this.running.history.tpsl(account) : [];
  }

  activeTpsl(userId: string, marketId: string): readonly TpslView[] {
    const { state } = this.running;
    const all = [...(state.marketsById.get(marketId)?.tpsl.values() ?? [])];
    return all.filter(({ account }) => account.userId === userId).map((tpsl) => liveTpslView(state, tpsl, 'ACTIVE', 0));
  }

  chancePoints(marketId: string, fromSeconds: number, toSeconds: number): readonly ChancePoint[] {
    return this.running.history.chancePoints(marketId, fromSeconds, toSeconds);
  }

  lastChanceAtOrBefore(marketId: string, seconds: number): ChancePoint | undefined {
    return this.running.history.lastChanceAtOrBefore(marketId, seconds);
  }

  truth(): Truth {
    return truthOf(this.running.state);
  }

  fillsAfter(seq: number): Iterable<TruthTrade> {
    return this.running.history.fillsAfter(seq);
  }

  pricesAfter(seq: number): Iterable<TruthPrice> {
    return this.running.history.pricesAfter(seq);
  }

  #view(account: Account | undefined): AccountView | undefined {
    return account && accountView(this.running.state, account);
  }

  #slice<T>(userId: string, read: (account: Account) => Slice<T>): Slice<T> {
    const account = this.running.state.accountsById.get(userId);
    return account ? read(account) : { items: [], total: 0 };
  }
}
