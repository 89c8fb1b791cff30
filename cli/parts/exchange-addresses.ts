import type { ExchangeAddresses } from '../../client/index.js';
import type { Settings } from '../../core/index.js';

/** Where the exchange is, as configured. */
export function exchangeAddresses(settings: Settings): ExchangeAddresses {
  return {
    base: settings.exchangeUrl,
    event: settings.eventUrl,
    wallet: settings.walletUrl,
    history: settings.historyUrl,
    order: settings.orderUrl,
    auth: settings.authUrl,
    chance: settings.chanceUrl,
    orderBookWs: settings.orderBookWsUrl,
    chanceWs: settings.chanceWsUrl,
    orderWs: settings.orderWsUrl,
    balanceWs: settings.balanceWsUrl,
  };
}
