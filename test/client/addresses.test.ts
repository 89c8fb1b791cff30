import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostOf } from '../../client/addresses.js';
import { AddressError, isLoopback, restUrl, streamUrl } from '../../client/index.js';

describe('routing by path prefix', () => {
  it.each([
    ['/api/events/search', 'event'],
    ['/api/categories', 'event'],
    ['/api/tags/popular', 'event'],
    ['/api/coins', 'wallet'],
    ['/api/user-balances', 'wallet'],
    ['/api/user-balances/full', 'wallet'],
    ['/api/deposit/usdc-address', 'wallet'],
    ['/api/transactions', 'wallet'],
    ['/api/history/trades', 'history'],
    ['/api/history/stats/profile/u/positions', 'history'],
    ['/orders/limit', 'order'],
    ['/orders/tpsl', 'order'],
    ['/auth/api-key', 'auth'],
    ['/api/events/e-1/outcomes/o-1/history', 'chance'],
    ['/api/events/e-1/outcomes/o-1/history/x', 'event'],
    ['/api/events/e-1/outcomes/o-1', 'event'],
    ['/api/coinsx', 'event'],
    ['/ordersx', 'event'],
    ['/anything/else', 'event'],
  ])('sends %s to the %s host', (path, host) => {
    expect(hostOf(path)).toBe(host);
  });

  it('uses the host of the prefix if it is given and the base URL otherwise, with the path of the address [1/base-url 1/routing 1/unlisted]', () => {
    const addresses = {
      base: 'https://all.example/gate/',
      wallet: 'https://wallet.example',
      chance: 'https://c.example:8443/x',
    };
    expect(restUrl(addresses, '/api/coins')).toEqual({ origin: 'https://wallet.example', path: '/api/coins' });
    expect(restUrl(addresses, '/api/categories')).toEqual({
      origin: 'https://all.example',
      path: '/gate/api/categories',
    });
    expect(restUrl(addresses, '/api/events/e/outcomes/o/history')).toEqual({
      origin: 'https://c.example:8443',
      path: '/x/api/events/e/outcomes/o/history',
    });
  });

  it('finds the streams on the base URL or on their own, with or without their path', () => {
    expect(streamUrl({ base: 'https://all.example' }, 'orderBookWs')).toBe('wss://all.example/event/ws');
    expect(streamUrl({ base: 'http://127.0.0.1:9100/' }, 'chanceWs')).toBe('ws://127.0.0.1:9100/ws');
    expect(streamUrl({ base: 'https://all.example', orderBookWs: 'wss://b.example' }, 'orderBookWs')).toBe(
      'wss://b.example/event/ws',
    );
    expect(streamUrl({ orderBookWs: 'wss://b.example/event/ws' }, 'orderBookWs')).toBe('wss://b.example/event/ws');
    expect(streamUrl({ chanceWs: 'wss://c.example/live' }, 'chanceWs')).toBe('wss://c.example/live/ws');
  });

  it('reports which address is missing', () => {
    expect(() => restUrl({ wallet: 'https://w.example' }, '/api/events/search')).toThrow(
      "no address for /api/events/search: give the exchange's base URL, or the URL of its event host",
    );
    expect(() => streamUrl({ event: 'https://w.example' }, 'chanceWs')).toThrow(/no address for the chance stream/);
  });
});

describe('addresses that may be used', () => {
  it.each([
    'http://127.0.0.1:1',
    'http://127.8.9.1',
    'http://localhost:9',
    'http://[::1]:9',
    'http://127.1:5',
    'https://x.example',
  ])('accepts %s', (base) => {
    expect(restUrl({ base }, '/api/coins').path).toBe('/api/coins');
  });

  it.each([
    ['http://exchange.example', 'is not encrypted; use https://exchange.example'],
    ['http://128.0.0.1', 'is not encrypted'],
    ['http://127.0.0.1.example.com', 'is not encrypted'],
    ['http://localhost.example', 'is not encrypted'],
    ['http://[::2]', 'is not encrypted'],
    ['http://0.0.0.0', 'is not encrypted'],
    ['ftp://x.example', 'is not an address of the exchange'],
    ['x.example', 'is not an address of the exchange'],
    ['https://user:secret@x.example', 'contains a user or password'],
    ['https://x.example?a=1', 'contains a query or a fragment'],
  ])('refuses %s', (base, message) => {
    expect(() => restUrl({ base }, '/api/coins')).toThrow(AddressError);
    expect(() => restUrl({ base }, '/api/coins')).toThrow(message);
    expect(() => restUrl({ base }, '/api/coins')).not.toThrow(/secret/);
  });

  it('refuses plain WebSocket addresses other than loopback [1/tls]', () => {
    expect(() => streamUrl({ base: 'https://x.example', chanceWs: 'ws://x.example' }, 'chanceWs')).toThrow(
      '"ws://x.example" is not encrypted; use wss://x.example',
    );
  });

  it('calls an IPv4 address loopback exactly when it begins with 127 [1/tls]', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        expect(isLoopback(new URL(`http://${ip}`).hostname)).toBe(ip.startsWith('127.'));
      }),
      { seed: 41 },
    );
  });
});
