import { EXCHANGE_HOSTS, type ExchangeAddresses, hostNames, type RestHost, type StreamHost } from '../core/index.js';
import { AddressError } from './errors/index.js';

const PREFIXES = hostNames.flatMap((host) => {
  const about = EXCHANGE_HOSTS[host];
  return 'prefixes' in about ? about.prefixes.map((prefix) => [prefix, host as RestHost] as const) : [];
});
const CHANCE_HISTORY = /^\/api\/events\/[^/]+\/outcomes\/[^/]+\/history$/;

/** The key of `ExchangeAddresses` that serves a path (without query), by the table of part 1; by default `event`. */
export function hostOf(path: string): RestHost {
  if (CHANCE_HISTORY.test(path)) return 'chance';
  const found = PREFIXES.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return found ? found[1] : 'event';
}

/** Origin and path of the URL of a REST path. @throws AddressError when no address is given for it, or it is not allowed */
export function restUrl(addresses: ExchangeAddresses, path: string): { origin: string; path: string } {
  const host = hostOf(path);
  const address = addresses[host] ?? addresses.base;
  if (address === undefined) {
    throw new AddressError(`no address for ${path}: give the exchange's base URL, or the URL of its ${host} host`);
  }
  const url = parseAddress(address, ['https:', 'http:']);
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') + path };
}

/** The URL of a stream. @throws AddressError */
export function streamUrl(addresses: ExchangeAddresses, stream: StreamHost): string {
  const { path: own, serves } = EXCHANGE_HOSTS[stream];
  const address = addresses[stream] ?? addresses.base;
  if (address === undefined) {
    throw new AddressError(`no address for the ${serves}: give the exchange's base URL, or the stream's own`);
  }
  const url = parseAddress(address, ['wss:', 'ws:', 'https:', 'http:']);
  const protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'wss:' : 'ws:';
  const path = url.pathname.replace(/\/+$/, '');
  return `${protocol}//${url.host}${addresses[stream] !== undefined && path.endsWith(own) ? path : path + own}`;
}

/** The URL of a WebSocket feed, given as its complete address with query. @throws AddressError */
export function feedUrl(address: string): string {
  const { search } = parseAddress(address, ['wss:', 'ws:'], 'whole');
  const url = new URL(address);
  return `${url.protocol}//${url.host}${url.pathname}${search}`;
}

/** Checks every given address, so that a wrong one is reported at start. @throws AddressError */
export function checkAddresses(addresses: ExchangeAddresses): void {
  for (const [name, address] of Object.entries(addresses)) {
    if (address === undefined) continue;
    parseAddress(address, name.endsWith('Ws') ? ['wss:', 'ws:', 'https:', 'http:'] : ['https:', 'http:']);
  }
}

/** @param part `base` when a path of the interface is appended to the address, `whole` when it is complete */
function parseAddress(address: string, protocols: readonly string[], part: 'base' | 'whole' = 'base'): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !protocols.includes(url.protocol) || url.hostname === '') {
    throw new AddressError(`${shown(address)} is not an address of the exchange; give one like ${protocols[0]}//host`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new AddressError(`the address of ${url.host} contains a user or password; remove it`);
  }
  if ((part === 'base' && url.search !== '') || url.hash !== '') {
    throw new AddressError(`${shown(address)} contains a query or a fragment; remove it`);
  }
  if ((url.protocol === 'http:' || url.protocol === 'ws:') && !isLoopback(url.hostname)) {
    const secure = url.protocol === 'http:' ? 'https:' : 'wss:';
    throw new AddressError(
      `${shown(address)} is not encrypted; use ${secure}//${url.host} (plain ${url.protocol} is for loopback addresses only)`,
    );
  }
  return url;
}

/** 127.0.0.0/8, ::1 or localhost; `hostname` as the URL class writes it. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

const shown = (address: string): string =>
  JSON.stringify(
    (address.length > 120 ? `${address.slice(0, 120)}…` : address).replace(/\/\/[^/@]*@/, '//[redacted]@'),
  );
