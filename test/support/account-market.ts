import { AccountClient, ApiKey, ExchangeClient, type ExchangeClientOptions, LoginSession } from '../../client/index.js';
import { type OrderTarget, type PlacedOrder, TradingClient } from '../../client/trading/index.js';
import { type AccountCredentials, Secret } from '../../core/index.js';
import type { TruthTrade } from '../../exchange/engine/index.js';
import type { ReadyLine } from '../../exchange/index.js';
import { atEnd } from './at-end.js';
import { startTestExchange, type TestExchange, type TestExchangeOptions } from './exchange.js';

export type SeededAccount = ReadyLine['accounts'][number];

/** A seeded account with its credentials and everything that the client offers it. */
export interface Trader {
  readonly name: string;
  readonly userId: string;
  readonly email: string;
  readonly credentials: AccountCredentials;
  readonly client: ExchangeClient;
  readonly apiKey: ApiKey;
  readonly jwt: LoginSession;
  readonly account: AccountClient;
  readonly trading: TradingClient;
  /** Texts that must not appear anywhere. */
  readonly secrets: readonly string[];
}

/** An exchange with one open market and two accounts that trade with each other. */
export interface AccountMarket {
  readonly exchange: TestExchange;
  readonly ann: Trader;
  readonly bob: Trader;
  /** ID of the USDC coin. */
  readonly usdc: string;
  readonly yes: OrderTarget;
  readonly no: OrderTarget;
  /** A fill at 0.40: Bob offers the NO of the pair, Ann buys YES. Answers Ann's order. */
  fill(quantity?: string): Promise<PlacedOrder>;
  /** As many fills of one share in the engine, without requests. */
  fillInEngine(count: number): void;
  /** Arms a fault. */
  fault(
    kind: string,
    options?: { readonly stream?: string; readonly count?: number; readonly ms?: number },
  ): Promise<void>;
  /** How many armed faults have not struck. */
  armed(): Promise<number>;
  /** Every fill so far, in order. */
  fills(): TruthTrade[];
}

/** @param options for the exchange, which has one event by default */
export async function startAccountMarket(options: TestExchangeOptions = {}): Promise<AccountMarket> {
  const exchange = await startTestExchange({ events: 1, accounts: 2, ...options });
  const { core, control, ready } = exchange;
  const [ann, bob] = ready.accounts.map((seeded) => traderOf(exchange, seeded));
  const [event] = core.events();
  const [market] = event?.markets ?? [];
  if (!ann || !bob || !event || !market) throw new Error('there is no market');
  const position = { eventId: event.eventId, marketId: market.marketId, quoteAssetId: core.usdcId };
  const yes: OrderTarget = { ...position, assetId: market.yesAssetId };
  const no: OrderTarget = { ...position, assetId: market.noAssetId };
  return {
    exchange,
    ann,
    bob,
    usdc: core.usdcId,
    yes,
    no,
    async fill(quantity = '1') {
      await bob.trading.placeLimitOrder({ ...no, side: 'BUY', price: '0.60', quantity });
      return ann.trading.placeLimitOrder({ ...yes, side: 'BUY', price: '0.40', quantity });
    },
    fillInEngine(count) {
      const { eventId, marketId } = market;
      const placeOrder = ({ userId }: Trader, assetId: string, price: number) => {
        const order = { userId, eventId, marketId, assetId, side: 'BUY', price, quantity: 100 } as const;
        const placed = core.placeLimit(order);
        if (!placed.ok) throw new Error(placed.rejection.message);
      };
      for (let n = 0; n < count; n++) {
        placeOrder(bob, market.noAssetId, 60);
        placeOrder(ann, market.yesAssetId, 40);
      }
    },
    async fault(kind, more = {}) {
      const { status, text } = await control('POST', '/faults', { kind, ...more });
      if (status !== 200) throw new Error(`the exchange does not arm ${kind}: ${text}`);
    },
    armed: async () => (await control('GET', '/faults')).body.armed.length,
    fills: () => [...core.fillsAfter(0)],
  };
}

/** @param options for the account's client, which does not wait between requests and retries */
export function traderOf(
  exchange: TestExchange,
  { email, password, userId, apiKey: key, apiSecret }: SeededAccount,
  options: Partial<ExchangeClientOptions> = {},
): Trader {
  const quick = { requestsPerSecond: 10_000, concurrency: 8, retryBaseMs: 1, retryCapMs: 5 };
  const client = new ExchangeClient({ addresses: { base: exchange.url }, ...quick, ...options });
  atEnd(() => client.close());
  const apiKey = new ApiKey(key, new Secret(apiSecret));
  const jwt = new LoginSession(client, { email, password: new Secret(password) });
  const name = email.replace(/@.*/, '');
  return {
    name,
    userId,
    email,
    credentials: {
      name,
      apiKey: { key, secret: new Secret(apiSecret) },
      login: { email, password: new Secret(password) },
    },
    client,
    apiKey,
    jwt,
    account: new AccountClient(client, { apiKey, jwt }),
    trading: new TradingClient(client, { apiKey }),
    secrets: [apiSecret, password],
  };
}
