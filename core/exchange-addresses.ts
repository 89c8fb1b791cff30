/**
 * The hosts that the exchange may be split into (part 1, "Host routing"). Each key is a property of
 * `ExchangeAddresses`, and with `Url` appended the setting that overrides the base URL. A REST host serves paths by their
 * prefix; a path without a prefix here belongs to `event`. A stream has one path.
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
  orderWs: { serves: 'order updates stream', path: '/order/ws' },
  balanceWs: { serves: 'balance stream', path: '/balance/ws' },
} as const;

export type ExchangeHost = keyof typeof EXCHANGE_HOSTS;
export type StreamHost = Extract<ExchangeHost, `${string}Ws`>;
export type RestHost = Exclude<ExchangeHost, StreamHost>;

/**
 * Where the exchange is: one base address for everything, one address per host, or a mixture: a host without an address
 * of its own is at `base`. REST addresses are `https:`, streams `wss:`; `http:` and `ws:` are accepted for loopback
 * addresses only.
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
