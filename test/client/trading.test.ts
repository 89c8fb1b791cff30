import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ApiKey,
  ForbiddenError,
  HttpStatusError,
  JsonNumber,
  OutcomeUnknownError,
  parseLossless,
  SchemaError,
  TransportError,
  UnauthorizedError,
} from '../../client/index.js';
import {
  ApiKeyAdmin,
  type LimitOrder,
  type MarketOrder,
  type TpslOrderRequest,
  TradingClient,
} from '../../client/trading/index.js';
import { limitOrderRequestSchema, marketOrderRequestSchema, tpslRequestSchema } from '../../client/wire/index.js';
import { isRetryable, retry, Secret, UsageError } from '../../core/index.js';
import { json, script, serve } from './support.js';
import { apiKey, exchangeOf, failure, signatureFault } from './support-account.js';

const target = { eventId: 'e1', marketId: 'm1', assetId: 'a1', quoteAssetId: 'usdc' };
const limit: LimitOrder = { ...target, side: 'BUY', price: '0.55', quantity: '10' };
const buy: MarketOrder = { ...target, side: 'BUY', amount: '25.000001' };
const tpsl: TpslOrderRequest = { ...target, outcome: 'YES', quantity: '3', takeProfitPrice: '0.9' };
const tradingOf = (base: string, options = {}) => new TradingClient(exchangeOf(base, options), { apiKey });

describe('orders', () => {
  it('go out as documented, signed, with amounts digit for digit [2/placement 4.2/limit 4.2/market]', async () => {
    const { base, seen } = await script(json({ i: 'o1' }));
    const trading = tradingOf(base);
    expect(await trading.placeLimitOrder({ ...limit, quantity: '123456789012345678.01' })).toEqual({ orderId: 'o1' });
    await trading.placeLimitOrder({ ...limit, side: 'SELL', price: 0.1, quantity: 1e-7 });
    expect(await trading.placeMarketOrder(buy)).toEqual({ orderId: 'o1' });
    await trading.placeMarketOrder({ ...target, side: 'SELL', quantity: 2.5 });
    expect(await trading.placeTpsl(tpsl)).toEqual({ tpslId: 'o1' });
    await trading.placeTpsl({ ...tpsl, openingAssetId: 'a2', outcome: 'NO', stopLossPrice: '0.010' });
    await trading.cancelOrder('o1');
    await trading.cancelTpsl('t1');
    expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'POST /orders/limit {"e":"e1","o":"m1","ba":"a1","qa":"usdc","s":"BUY","p":0.55,"q":123456789012345678.01}',
      'POST /orders/limit {"e":"e1","o":"m1","ba":"a1","qa":"usdc","s":"SELL","p":0.1,"q":0.0000001}',
      'POST /orders/market {"e":"e1","o":"m1","ba":"a1","qa":"usdc","s":"BUY","am":25.000001}',
      'POST /orders/market {"e":"e1","o":"m1","ba":"a1","qa":"usdc","s":"SELL","q":2.5}',
      'POST /orders/tpsl {"e":"e1","o":"m1","ba":"a1","qa":"usdc","i":"YES","s":"SELL","q":3,"t":0.9}',
      'POST /orders/tpsl {"e":"e1","o":"m1","ba":"a1","qa":"usdc","oa":"a2","i":"NO","s":"SELL","q":3,"t":0.9,"l":0.01}',
      'DELETE /orders/limit/o1 ',
      'DELETE /orders/tpsl/t1 ',
    ]);
    expect(seen.map((request) => signatureFault(request))).toEqual(seen.map(() => undefined));
    for (const [n, schema] of [
      limitOrderRequestSchema,
      limitOrderRequestSchema,
      marketOrderRequestSchema,
      marketOrderRequestSchema,
      tpslRequestSchema,
      tpslRequestSchema,
    ].entries()) {
      expect(schema.safeParse(JSON.parse(seen[n]?.body ?? ''))).toMatchObject({ success: true });
    }
  });

  it('carry any decimal exactly', async () => {
    const { base, seen } = await script(json({ i: 'o1' }));
    const trading = tradingOf(base);
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 30 });
    const amounts = fc.tuple(digits, digits).map(([whole, fraction]) => `1${whole}.${fraction}1`);
    await fc.assert(
      fc.asyncProperty(amounts, async (amount) => {
        await trading.placeMarketOrder({ ...buy, amount });
        const sent = parseLossless(seen.at(-1)?.body ?? '') as unknown as { am: JsonNumber };
        expect(sent.am).toEqual(new JsonNumber(amount));
      }),
      { numRuns: 30 },
    );
  });

  it.each<[string, () => LimitOrder | MarketOrder | TpslOrderRequest, string]>([
    ['a price below', () => ({ ...limit, price: '0.009' }), 'price is 0.009; give 0.01 to 0.99'],
    ['a price above', () => ({ ...limit, price: 1 }), 'price is 1; give 0.01 to 0.99'],
    ['a price that is none', () => ({ ...limit, price: 'half' }), 'price is "half"; give a decimal greater than 0'],
    ['no quantity', () => ({ ...limit, quantity: 0 }), 'quantity is 0; give a decimal greater than 0'],
    ['a negative quantity', () => ({ ...limit, quantity: '-1' }), 'quantity is "-1"; give a decimal greater than 0'],
    ['an endless quantity', () => ({ ...limit, quantity: Number.POSITIVE_INFINITY }), 'give a decimal greater than 0'],
    ['NaN', () => ({ ...limit, quantity: Number.NaN }), 'give a decimal greater than 0'],
    ['another side', () => ({ ...limit, side: 'HOLD' as 'BUY' }), 'side is "HOLD"; give BUY or SELL'],
    ['an empty ID', () => ({ ...limit, marketId: '' }), 'marketId is ""; give an ID'],
    [
      'a market BUY without an amount',
      () => ({ ...target, side: 'BUY', quantity: 1 }) as unknown as MarketOrder,
      'amount is undefined',
    ],
    [
      'a market SELL without a quantity',
      () => ({ ...target, side: 'SELL', amount: 1 }) as unknown as MarketOrder,
      'quantity is undefined',
    ],
    [
      'a TP/SL order without a price',
      () => ({ ...target, outcome: 'YES', quantity: 1 }) as TpslOrderRequest,
      'has neither price',
    ],
    [
      'a TP/SL order for neither asset',
      () => ({ ...tpsl, outcome: 'MAYBE' as 'YES' }),
      'outcome is "MAYBE"; give YES or NO',
    ],
    [
      'a stop-loss out of range',
      () => ({ ...tpsl, stopLossPrice: 0.995 }),
      'stopLossPrice is 0.995; give 0.01 to 0.99',
    ],
  ])('are not sent with %s', async (_, make, message) => {
    const { base, seen } = await script(json({ i: 'o1' }));
    const order = make();
    const trading = tradingOf(base);
    const place =
      'outcome' in order
        ? trading.placeTpsl(order)
        : 'price' in order
          ? trading.placeLimitOrder(order)
          : trading.placeMarketOrder(order);
    const error = await failure(place);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(message);
    expect(seen).toEqual([]);
  });

  it.each([200, 201, 202])('are placed by a %d [4.2/limit 4.2/market 7.2/success]', async (status) => {
    const { base } = await script(json({ i: 'o1', extra: 1 }, status));
    expect(await tradingOf(base).placeLimitOrder(limit)).toEqual({ orderId: 'o1' });
  });

  it('of TP/SL kind are placed with any response body, since none is documented [4.2/tpsl]', async () => {
    const { base } = await script(
      (response) => response.writeHead(202).end(),
      (response) => response.end('OK'),
      json({ id: 1 }),
    );
    for (let n = 0; n < 3; n++) expect(await tradingOf(base).placeTpsl(tpsl)).toEqual({ tpslId: null });
  });

  it('are cancelled by a 204 without a body and by a 200 with one [4.2/cancel 4.2/tpsl-cancel 7.2/success]', async () => {
    const { base } = await script((response) => response.writeHead(204).end(), json({ ok: true }));
    await tradingOf(base).cancelOrder('o1');
    await tradingOf(base).cancelTpsl('t1');
    const { base: gone } = await script(json({ status: 404, error: 'Not Found', message: 'filled' }, 404));
    expect(await failure(tradingOf(gone).cancelOrder('o1'))).toMatchObject({ status: 404 });
  });

  it('that were accepted without an ID are not reported as failed', async () => {
    const { base, seen } = await script(json({ id: 'o1' }));
    const error = await failure(tradingOf(base).placeLimitOrder(limit));
    expect(error).toBeInstanceOf(SchemaError);
    expect((error as Error).message).toBe(
      'limit-order, which the exchange accepted: the response at i does not match the interface: expected a string, got nothing',
    );
    expect(seen.length).toBe(1);
  });
});

type Step = Parameters<typeof script>[0];

describe('an order whose outcome is unknown', () => {
  const ambiguous: [string, Step][] = [
    ['a reset', (response) => response.destroy()],
    ['a 500', json({}, 500)],
    ['a 503 with Retry-After', json({}, 503, { 'retry-after': '0' })],
    [
      'an answer that breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"i":', () => response.destroy());
      },
    ],
    ['an answer that is no JSON', (response) => response.end('{"i":"o')],
    ['no answer in time', () => undefined],
  ];

  it.each(ambiguous)('is never sent again, after %s', async (what, step) => {
    const { base, seen } = await script(step, json({ i: 'o2' }));
    const timeoutMs = what === 'no answer in time' ? 1000 : 20_000;
    const trading = tradingOf(base, { timeoutMs, attempts: 5 });
    const error = await failure(retry(() => trading.placeLimitOrder(limit), { baseMs: 1 }));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect((error as Error).message).toMatch(
      /^limit-order POST \/orders\/limit: it may or may not have taken effect \(.+\); check the active orders, the order history or the order updates stream before trying again$/,
    );
    expect(isRetryable(error)).toBe(false);
    expect(seen.length).toBe(1);
  });

  it.each([
    ['market order', (trading: TradingClient) => trading.placeMarketOrder(buy)],
    ['TP/SL order', (trading: TradingClient) => trading.placeTpsl(tpsl)],
  ])('is never sent again, also a %s', async (_, place) => {
    const { base, seen } = await script((response) => response.destroy(), json({ i: 'o2' }));
    expect(await failure(place(tradingOf(base)))).toBeInstanceOf(OutcomeUnknownError);
    expect(seen.length).toBe(1);
  });

  it('is never sent again by the connection below, when an idle one turns out to be closed', async () => {
    let requests = 0;
    const server = createServer((socket) => {
      let answered = 0;
      socket.on('error', () => undefined);
      socket.on('data', () => {
        requests += 1;
        answered += 1;
        // The second request on a connection is read, and the connection closed under it.
        if (answered > 1) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"i":"o1"}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const trading = tradingOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { concurrency: 1 });
    await trading.placeLimitOrder(limit);
    expect(await failure(trading.placeLimitOrder(limit))).toBeInstanceOf(OutcomeUnknownError);
    expect(requests).toBe(2);
  });

  it('is distinguished from a refused order and from one that was never sent', async () => {
    const refusals: [number, new (...args: never[]) => Error][] = [
      [400, HttpStatusError],
      [401, UnauthorizedError],
      [403, ForbiddenError],
      [404, HttpStatusError],
      [429, HttpStatusError],
    ];
    for (const [status, type] of refusals) {
      const { base, seen } = await script(json({ status, error: 'No', message: 'no' }, status));
      const error = await failure(tradingOf(base).placeLimitOrder(limit));
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status });
      expect(seen.length).toBe(1);
    }
    const base = await serve(() => undefined);
    const error = await failure(tradingOf(`http://127.0.0.2:${new URL(base).port}`).placeLimitOrder(limit));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'connection', unsent: true, retryable: true });
  });

  it('does not apply to cancelling, which is retried', async () => {
    const { base, seen } = await script(
      (response) => response.destroy(),
      json({}, 500),
      (response) => response.writeHead(204).end(),
    );
    await tradingOf(base).cancelOrder('o1');
    expect(seen.length).toBe(3);
  });
});

const jwt = new Secret('to.k.en');
const adminOf = (base: string) => new ApiKeyAdmin(exchangeOf(base), { jwt });

describe('the lifecycle of an API key', () => {
  it('goes through code, creation and revocation, with the token and nothing else [4.1/send-code 4.1/create 4.1/delete]', async () => {
    const created = { id: 'k1', key: 'pk_new', secret: 'c2VjcmV0', createdAt: '2025-11-21T10:00:00Z', expiresAt: null };
    const { base, seen } = await script(
      (response) => response.end(),
      json(created),
      json(created),
      (response) => response.writeHead(204).end(),
    );
    const admin = adminOf(base);
    await admin.sendCode();
    const key = await admin.createApiKey({
      code: new Secret('123456'),
      otp: new Secret('654321'),
      expiresAt: '2030-01-01T00:00:00Z',
    });
    await admin.createApiKey({ code: new Secret('123456'), expiresAt: null });
    await admin.deleteApiKey();
    expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'POST /auth/api-key/send-code ',
      'POST /auth/api-key {"code":"123456","otp":"654321","expiresAt":"2030-01-01T00:00:00Z"}',
      'POST /auth/api-key {"code":"123456","expiresAt":null}',
      'DELETE /auth/api-key ',
    ]);
    expect(seen.map(({ headers }) => [headers.authorization, headers['service-api-key']])).toEqual(
      seen.map(() => ['Bearer to.k.en', undefined]),
    );
    expect(key).toMatchObject({
      keyId: 'k1',
      key: 'pk_new',
      createdAtMicros: 1_763_719_200_000_000,
      expiresAtMicros: null,
    });
    expect(inspect(key, { depth: 9 })).not.toContain('c2VjcmV0');
    expect(new ApiKey(key.key, key.secret).sign('1700000000GET/orders/tpsl')).toBe(
      'AWGA05ziTPK06vJ96hX6Jg9YOKlaZAHenNeebUx5kfI',
    );
  });

  it('sends every step once', async () => {
    const steps: ((admin: ApiKeyAdmin) => Promise<unknown>)[] = [
      (admin) => admin.sendCode(),
      (admin) => admin.createApiKey({ code: new Secret('123456') }),
      (admin) => admin.deleteApiKey(),
    ];
    for (const step of steps) {
      const { base, seen } = await script((response) => response.destroy(), json({}));
      expect(await failure(step(adminOf(base)))).toBeInstanceOf(OutcomeUnknownError);
      expect(seen.length).toBe(1);
    }
  });

  it('does not show codes and secrets when a step fails', async () => {
    const code = new Secret('918273');
    const echo = await script(json({ status: 400, error: 'Bad Request', message: 'code 918273 was used' }, 400));
    const odd = await script(json({ key: 5, secret: 'c2VjcmV0' }));
    const refused = await failure(adminOf(echo.base).createApiKey({ code }));
    const unread = await failure(adminOf(odd.base).createApiKey({ code }));
    expect((refused as Error).message).toContain('code [redacted] was used');
    expect((unread as Error).message).toContain('the response at key does not match the interface');
    for (const error of [refused, unread]) {
      const text = inspect(error, { depth: 9, showHidden: true });
      for (const secret of ['918273', 'c2VjcmV0', 'to.k.en']) expect(text).not.toContain(secret);
    }
  });
});
