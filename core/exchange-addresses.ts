/**
 * The hosts that the exchange may be split into (part 1, "Host routing"). Each key is a property of
 * `ExchangeAddresses`, and with `Url` appended the setting that overrides the base URL. A REST host serves paths by their
 * prefix; a path without a prefix here belongs to `event`. A stream has one path; a `private` one wants AUTH.
 */
export const EXCHANGE_HOSTS = {
  event: { serves: 'events, categories and tags', prefixes: ['/api/events', '/api/categories', '/api/tags'] },
  wallet: {
    serves: 'coins, balances, deposits and transactions',
    prefixes: ['/api/coins', '/api/user-balances', '/api/deposit', '/api/transactions'],
  },
  history: { serves: 'the history of orders, trades, positions and activity', prefixes: ['/api/history'] },
  order: { serves: 'TP/SL orders', prefixes: ['/orders'] },
  auth: { serves: 'logins', prefixes: ['/auth'] },
  /** By pattern, not by prefix: `/api/events/…/outcomes/…/history`. */
  chance: { serves: 'chance history', prefixes: [] },
  orderBookWs: { serves: 'order book stream', path: '/event/ws' },
  chanceWs: { serves: 'chance stream', path: '/ws' },
  orderWs: { serves: 'order updates stream', path: '/order/ws', private: true },
  balanceWs: { serves: 'balance stream', path: '/balance/ws', private: true },
} as const;

export type ExchangeHost = keyof typeof EXCHANGE_HOSTS;
export type StreamHost = Extract<ExchangeHost, `${string}Ws`>;
export type PrivateStreamHost = {
  [K in StreamHost]: (typeof EXCHANGE_HOSTS)[K] extends { private: true } ? K : never;
}[StreamHost];
export type PrivateStreamPath = (typeof EXCHANGE_HOSTS)[PrivateStreamHost]['path'];
export type RestHost = Exclude<ExchangeHost, StreamHost>;

/**
 * The addresses of the exchange: hosts without an address of their own are at `base`. REST addresses are `https:`, streams
 * `wss:`; `http:` and `ws:` are accepted for loopback addresses only.
 */
export type ExchangeAddresses = { readonly [K in ExchangeHost | 'base']?: string | undefined };

/** The settings that hold these addresses. */
export type ExchangeUrls = { readonly exchangeUrl: string } & {
  readonly [K in ExchangeHost as `${K}Url`]: string | undefined;
};

export const hostNames = Object.keys(EXCHANGE_HOSTS) as ExchangeHost[];

export function exchangeAddresses(urls: ExchangeUrls): ExchangeAddresses {
  return { base: urls.exchangeUrl, ...Object.fromEntries(hostNames.map((host) => [host, urls[`${host}Url`]])) };
}
