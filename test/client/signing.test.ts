import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AccountClient, ApiKey } from '../../client/index.js';
import { TradingClient } from '../../client/trading/index.js';
import { Secret, UsageError } from '../../core/index.js';
import { json, script } from './support.js';
import { apiKey, exchangeOf, expectedSignature, SECRET, SECRET_TEXT, signatureFault } from './support-account.js';

const secrets = fc.uint8Array({ minLength: 1, maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url'));

describe('signing a request', () => {
  it('equals that of node:crypto over timestamp, method, path and body [5.1/rule-1]', () => {
    const request = fc.record({
      method: fc.constantFrom('GET' as const, 'POST' as const, 'DELETE' as const),
      path: fc.string({ unit: 'binary', maxLength: 60 }),
      body: fc.string({ unit: 'binary', maxLength: 120 }),
    });
    fc.assert(
      fc.property(secrets, request, fc.nat(), (secret, { method, path, body }, timestamp) => {
        const headers = new ApiKey('pk_1', new Secret(secret)).headers({ method, path, body }, timestamp);
        expect(headers).toEqual({
          'SERVICE-API-KEY': 'pk_1',
          'SERVICE-API-SIGNATURE': expectedSignature(`${timestamp}${method}${path}${body}`, secret),
          'SERVICE-API-TIMESTAMP': String(timestamp),
        });
        expect(headers['SERVICE-API-SIGNATURE']).toMatch(/^[A-Za-z0-9_-]{43}$/);
      }),
    );
  });

  it('is the same with and without padding of the secret [5.1/rule-4]', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const padded = secret.padEnd(Math.ceil(secret.length / 4) * 4, '=');
        const sign = (text: string) => new ApiKey('pk_1', new Secret(text)).sign('message');
        expect(sign(padded)).toBe(sign(secret));
        expect(sign(secret)).toBe(expectedSignature('message', secret));
      }),
    );
  });

  it('equals a known signature [5.1/rule-4]', () => {
    const key = new ApiKey('pk_1', new Secret('c2VjcmV0'));
    expect(key.sign('1700000000GET/orders/tpsl')).toBe('AWGA05ziTPK06vJ96hX6Jg9YOKlaZAHenNeebUx5kfI');
  });

  it.each([
    ['', 'no text'],
    ['abc+', 'the other alphabet'],
    ['a', 'a length that nothing encodes to'],
    ['abcd====', 'too much padding'],
    ['ab cd', 'a space'],
    ['abcd\n', 'a line break'],
  ])('refuses a secret that is not base64url without showing it: %j (%s)', (text) => {
    const make = () => new ApiKey('pk_1', new Secret(text));
    expect(make).toThrow(UsageError);
    expect(make).toThrow(/^the API secret is not base64url; give it exactly as received when the key was created$/);
  });

  it.each(['', 'pk 1', 'pk\r\nx: y', 'pk_ü'])('refuses a key that no header may carry: %j', (key) => {
    expect(() => new ApiKey(key, SECRET)).toThrow('the API key is invalid');
  });

  it('creates the AUTH message of both private streams, with the timestamp as text [5.5/signature]', () => {
    for (const path of ['/order/ws', '/balance/ws'] as const) {
      expect(apiKey.streamAuth(path, 1_700_000_000)).toEqual({
        t: 'AUTH',
        d: { apiKey: 'pk_test', signature: expectedSignature(`1700000000GET${path}`), timestamp: '1700000000' },
      });
    }
  });

  it('does not show the secret when the key is printed or serialised', () => {
    for (const text of [inspect(apiKey, { depth: 9, showHidden: true }), JSON.stringify(apiKey), String(apiKey)]) {
      expect(text).not.toContain(SECRET_TEXT);
    }
    expect(JSON.stringify(apiKey)).toBe('{"key":"pk_test","secret":"[redacted]"}');
  });
});

describe('signed requests on the wire', () => {
  it('cover the path as sent, without its query, and the exact body [5.1/rule-2 5.1/rule-3]', async () => {
    const { base, seen } = await script(json({ i: 'o1' }));
    const exchange = exchangeOf(base);
    const account = new AccountClient(exchange, { apiKey });
    const trading = new TradingClient(exchange, { apiKey });
    await account.trades({ marketId: 'ü/?#&=', page: 3 }).catch(() => undefined);
    await account.profileStats({ userId: 'a b/ü?' }).catch(() => undefined);
    const target = { eventId: 'é', marketId: '"\\ud800"', assetId: '\ud800', quoteAssetId: '😀' };
    await trading.placeLimitOrder({ ...target, side: 'BUY', price: '0.10', quantity: 1e21 });
    await trading.cancelOrder('o/1');
    expect(seen.map((request) => signatureFault(request))).toEqual([undefined, undefined, undefined, undefined]);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/history/trades?page=3&size=20&eventOutcomeId=%C3%BC%2F%3F%23%26%3D',
      'GET /api/history/stats/profile/a%20b%2F%C3%BC%3F',
      'POST /orders/limit',
      'DELETE /orders/limit/o%2F1',
    ]);
    expect(seen[3]?.body).toBe('');
  });

  it('cover the path of the interface where the address has a path of its own', async () => {
    const { base, seen } = await script(json([]));
    const account = new AccountClient(exchangeOf(`${base}/gateway/v1`), { apiKey });
    await account.balances();
    const [request] = seen;
    expect(request?.url).toBe('/gateway/v1/api/user-balances');
    if (!request) throw new Error('nothing was asked');
    expect(signatureFault({ ...request, url: '/api/user-balances' })).toBeUndefined();
  });

  it('differ from those of another secret', async () => {
    const { base, seen } = await script(json([]));
    const other = new ApiKey('pk_test', new Secret(randomBytes(32).toString('base64url')));
    await new AccountClient(exchangeOf(base), { apiKey: other }).balances();
    expect(seen.map((request) => signatureFault(request))).toEqual(['the signature is wrong']);
  });
});
