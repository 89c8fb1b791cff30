import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  AccountClient,
  ForbiddenError,
  HttpStatusError,
  LoginSession,
  login,
  type RawResponse,
  SchemaError,
  TransportError,
  UnauthorizedError,
} from '../../client/index.js';
import { Secret, UsageError } from '../../core/index.js';
import { json, type SeenRequest, script } from './support.js';
import { apiKey, exchangeOf, failure, SECRET_TEXT, signatureFault } from './support-account.js';

const TOKEN = 'header.payload-of-the-token.signature';
const jwt = new Secret(TOKEN);
const accountOf = (base: string) => new AccountClient(exchangeOf(base), { apiKey, jwt });
const noPages = { i: [], p: 0, s: 20, tp: 0 };

/** Everything that an error contains, also when it is printed. */
const everything = (error: unknown): string =>
  `${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}`;

describe('requests to an account', () => {
  it('are sent as documented, with the API key or the token that the operation requires, never both [4.2/tpsl-list 4.3/balances 4.3/balances-full 4.4/open-positions 4.4/active-orders 4.4/orders 4.4/trades 4.4/activity 4.4/profile 4.4/position-stats 5.1/headers 5.1/rule-6 9/version]', async () => {
    const { base, seen } = await script((response, request) => {
      const single = /stats|deposit|api-key/.test(request.url);
      const record = { profile: { userId: 'u1' }, a: '0xabc', key: 'pk_1' };
      json(single ? record : noPages)(response, request);
    });
    const account = accountOf(base);
    await account.balances();
    await account.fullBalances();
    await account.openPositions();
    await account.activeOrders({ page: 1, size: 7 });
    await account.orders({ marketId: 'm1', sort: 'asc' });
    await account.trades();
    await account.activity({ size: 50 });
    await account.profileStats({ userId: 'u1' });
    await account.positionStats({ userId: 'u1' });
    await account.tpslOrders({ assetId: 'a1', primary: false, status: 'ACTIVE' });
    await account.tpslOrders({ assetId: 'a1' });
    await account.transactions();
    await account.depositAddress();
    await account.apiKeyInfo();
    const withKey = (request: SeenRequest) => (signatureFault(request) === undefined ? 'key' : 'no key');
    const withToken = ({ headers }: SeenRequest) =>
      headers.authorization === `Bearer ${TOKEN}` && !Object.keys(headers).some((name) => name.startsWith('service-'));
    const credentials = (request: SeenRequest) => (withToken(request) ? 'token' : withKey(request));
    expect(seen.map((request) => `${request.method} ${request.url} ${credentials(request)}`)).toEqual([
      'GET /api/user-balances key',
      'GET /api/user-balances/full key',
      'GET /api/history/deals/open-positions?page=0&size=100 key',
      'GET /api/history/deals/active-orders?page=1&size=7 key',
      'GET /api/history/orders?page=0&size=20&eventOutcomeId=m1&sort=asc key',
      'GET /api/history/trades?page=0&size=20 key',
      'GET /api/history/activity?page=0&size=50 key',
      'GET /api/history/stats/profile/u1 key',
      'GET /api/history/stats/profile/u1/positions key',
      'GET /orders/tpsl?assetId=a1&primary=false&status=ACTIVE key',
      'GET /orders/tpsl?assetId=a1 key',
      'GET /api/transactions?page=0&size=20 token',
      'GET /api/deposit/usdc-address token',
      'GET /auth/api-key token',
    ]);
    expect(seen.every(({ body }) => body === '')).toBe(true);
  });

  it('go to the host of each path prefix [1/routing]', async () => {
    const hosts = {
      wallet: await script(json([])),
      history: await script(json(noPages)),
      order: await script(json([])),
      auth: await script(json({ key: 'k' })),
    };
    const addresses = Object.fromEntries(Object.entries(hosts).map(([name, { base }]) => [name, base]));
    const account = new AccountClient(exchangeOf('', { addresses }), { apiKey, jwt });
    await account.balances();
    await account.transactions();
    await account.trades();
    await account.tpslOrders({ assetId: 'a' });
    await account.apiKeyInfo();
    expect(Object.values(hosts).map(({ seen }) => seen.map(({ url }) => url.split('?')[0]))).toEqual([
      ['/api/user-balances', '/api/transactions'],
      ['/api/history/trades'],
      ['/orders/tpsl'],
      ['/auth/api-key'],
    ]);
  });

  it.each([
    [(a: AccountClient) => a.trades({ page: -1 }), 'page is -1'],
    [(a: AccountClient) => a.openPositions({ size: 0 }), 'size is 0'],
    [(a: AccountClient) => a.profileStats({ userId: '' }), 'userId is ""'],
    [(a: AccountClient) => a.tpslOrders({ assetId: '' }), 'assetId is ""'],
  ])('is not sent when the parameters cannot be (%#)', async (ask, message) => {
    const { base, seen } = await script(json([]));
    const error = await failure(ask(accountOf(base)));
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain(message);
    expect(seen).toEqual([]);
  });

  it('are not sent without the required credentials [5.2/scope]', async () => {
    const { base, seen } = await script(json([]));
    const keyOnly = new AccountClient(exchangeOf(base), { apiKey });
    const tokenOnly = new AccountClient(exchangeOf(base), { jwt });
    expect((await failure(keyOnly.transactions())) as Error).toMatchObject({
      message: 'transactions requires a JWT; add one, or a LoginSession, to the credentials',
    });
    expect((await failure(tokenOnly.trades())) as Error).toMatchObject({
      message: 'trades requires an API key; add one to the credentials',
    });
    const broken = new AccountClient(exchangeOf(base), { jwt: new Secret('two\nlines') });
    expect(((await failure(broken.transactions())) as Error).message).toBe(
      'the JWT is invalid; give it without spaces and line breaks',
    );
    expect(seen).toEqual([]);
  });
});

describe('responses of an account', () => {
  it('include the bytes, the time and the request for the raw record, and amounts are never converted to doubles', async () => {
    const text = '{"i":[ {"i":"r1","q":0.1000000000000000055511151231257827,"p":0.5,"f":1e-7} ],"p":4,"s":20,"tp":9}';
    const { base } = await script((response) => response.end(text));
    const answer = await accountOf(base).trades({ page: 4, marketId: 'm1' });
    expect(answer.items).toMatchObject([
      { tradeRecordId: 'r1', quantity: '0.1000000000000000055511151231257827', price: '0.5', fee: '0.0000001' },
    ]);
    expect(answer.page).toEqual({ page: 4, size: 20, totalPages: 9, totalItems: null });
    expect(answer.response.bytes.toString()).toBe(text);
    expect(answer.response.request).toEqual({
      operation: 'trades',
      method: 'GET',
      path: '/api/history/trades',
      query: { page: 4, size: 20, eventOutcomeId: 'm1' },
      status: 200,
      attempt: 0,
      page: 4,
      market: 'm1',
    });
  });

  it('are retried after a 500 and after a truncated body, signed again each time', async () => {
    const { base, seen } = await script(
      json({}, 500),
      (response) => response.end('{"i":[{"i":"r1",'),
      json({ ...noPages, i: [{ i: 'r1', q: 1, p: 1 }] }),
    );
    const shown: RawResponse[] = [];
    const { items } = await accountOf(base).trades({}, { onResponse: (response) => shown.push(response) });
    expect(items.length).toBe(1);
    expect(seen.map((request) => signatureFault(request))).toEqual([undefined, undefined, undefined]);
    expect(shown.map(({ status, request }) => [status, request.attempt])).toEqual([
      [500, 0],
      [200, 1],
      [200, 2],
    ]);
  });

  it('are null without a deposit address or a key [4.1/get 4.3/deposit-address]', async () => {
    const { base } = await script(json({ status: 404, error: 'Not Found', message: 'not generated yet' }, 404));
    expect(await accountOf(base).depositAddress()).toBeNull();
    expect(await accountOf(base).apiKeyInfo()).toBeNull();
    expect(await failure(accountOf(base).balances())).toMatchObject({ status: 404 });
  });

  it('are rejected in one line when they do not match the interface, are not JSON, or are nested too deeply', async () => {
    const { base } = await script(json({ i: 5 }), json({ profile: 1 }));
    expect(await failure(accountOf(base).trades())).toMatchObject({
      message:
        'trades GET /api/history/trades: the response at i does not match the interface: expected a list, got number 5',
    });
    expect(await failure(accountOf(base).profileStats({ userId: 'u' }))).toBeInstanceOf(SchemaError);
    const html = await script((response) => response.end('<html>'));
    expect(await failure(accountOf(html.base).balances())).toMatchObject({ code: 'not-json' });
    const deep = await script((response) => response.end(`${'['.repeat(1e5)}${']'.repeat(1e5)}`));
    expect(await failure(accountOf(deep.base).balances())).toMatchObject({
      reason: 'it is nested too deeply to be parsed',
    });
    expect(deep.seen.length).toBe(1);
  });

  it('reject with the reason of an aborted signal', async () => {
    const { base, seen } = await script(() => undefined);
    const abort = new AbortController();
    const asking = failure(accountOf(base).balances({ signal: abort.signal }));
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await asking).toBe(reason);
  });
});

describe('rejections', () => {
  it('have a class for 401 and for 403, and say what to check [5.1/rule-7 7.2/401 7.4/open]', async () => {
    const refused = async (status: number) => {
      const { base } = await script(json({ status, error: 'No', message: 'because' }, status));
      return failure(accountOf(base).balances());
    };
    const unauthorized = await refused(401);
    expect(unauthorized).toBeInstanceOf(UnauthorizedError);
    expect(unauthorized).not.toBeInstanceOf(ForbiddenError);
    expect((unauthorized as Error).message).toMatch(/answered 401 \(because\); check the key or token/);
    const forbidden = await refused(403);
    expect(forbidden).toBeInstanceOf(ForbiddenError);
    expect(forbidden).not.toBeInstanceOf(UnauthorizedError);
    expect((forbidden as Error).message).toMatch(/answered 403 \(because\); the credentials do not allow it/);
    for (const error of [unauthorized, forbidden]) {
      expect(error).toBeInstanceOf(HttpStatusError);
      expect(error).toMatchObject({ retryable: false });
    }
    expect(await refused(400)).not.toBeInstanceOf(UnauthorizedError);
  });
});

describe('secrets', () => {
  it('show nowhere, also when the exchange repeats them in an error, a header or a body', async () => {
    const repeat = (status: number) => (response: import('node:http').ServerResponse) => {
      response.writeHead(status, { 'x-echo': TOKEN, 'retry-after': '0' });
      response.end(JSON.stringify({ status, error: TOKEN, message: `you sent ${TOKEN} and ${SECRET_TEXT}` }));
    };
    const { base } = await script(repeat(400), repeat(400), repeat(200));
    const account = accountOf(base);
    const shown: RawResponse[] = [];
    const onResponse = (response: RawResponse) => shown.push(response);
    const said = [
      await failure(account.transactions({}, { onResponse })),
      await failure(account.trades({}, { onResponse })),
      await failure(account.transactions({}, { onResponse })),
    ];
    expect(everything(said[0])).toContain('you sent [redacted]');
    expect(everything(said[1])).toContain('and [redacted]');
    const [byToken, byKey, again] = said.map(everything);
    for (const text of [byToken, again, inspect(shown[0]), shown[0]?.bytes.toString(), shown[2]?.bytes.toString()]) {
      expect(text).not.toContain(TOKEN);
    }
    for (const text of [byKey, shown[1]?.bytes.toString()]) expect(text).not.toContain(SECRET_TEXT);
    expect(JSON.stringify(shown.map(({ request, headers }) => [request, headers]))).not.toMatch(
      /SERVICE|Bearer|signature/i,
    );
    expect(shown.length).toBe(3);
  });

  it.each([4, 20, SECRET_TEXT.length - 1])(
    'show nowhere, also when an answer is cut after %i characters of one',
    async (length) => {
      const { base } = await script((response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write(`{"message":"${SECRET_TEXT.slice(0, length)}`, () => response.destroy());
      });
      const shown: RawResponse[] = [];
      await failure(accountOf(base).balances({ onResponse: (response) => shown.push(response) }));
      expect(new Set(shown.map(({ bytes }) => bytes.toString()))).toEqual(new Set(['{"message":"[redacted]']));
    },
  );

  it('show in no error of a connection that fails', async () => {
    const { base } = await script((response) => response.destroy());
    for (const error of [await failure(accountOf(base).transactions()), await failure(accountOf(base).balances())]) {
      expect(error).toBeInstanceOf(TransportError);
      expect(everything(error)).not.toContain(TOKEN);
      expect(everything(error)).not.toContain(SECRET_TEXT);
    }
  });

  it('show in no client that is printed', () => {
    const text = everything(accountOf('http://127.0.0.1:1'));
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(SECRET_TEXT);
  });
});

const PASSWORD = 'correct "horse" battery';
const fields = { email: 'me@example.org', password: new Secret(PASSWORD), otp: () => new Secret('123456') };

describe('logging in', () => {
  it('sends the fields unchanged, and returns the token [4.1/login]', async () => {
    const { base, seen } = await script(json({ token: TOKEN, expiresAt: '2030-01-01T00:00:00Z' }));
    const { token, expiresAtMicros } = await login(exchangeOf(base), fields);
    expect([token.reveal(), expiresAtMicros]).toEqual([TOKEN, Date.parse('2030-01-01T00:00:00Z') * 1000]);
    expect(seen.map(({ method, url, body }) => [method, url, JSON.parse(body) as unknown])).toEqual([
      ['POST', '/auth/login', { email: 'me@example.org', password: PASSWORD, otp: '123456' }],
    ]);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it('shows neither request nor response in its error', async () => {
    const echo = await script(
      json({ status: 401, error: '123456', message: `no user me@example.org with ${PASSWORD}` }, 401),
    );
    const refused = await failure(login(exchangeOf(echo.base), fields));
    expect(refused).toBeInstanceOf(UnauthorizedError);
    const odd = await script(json({ tokens: [TOKEN, PASSWORD] }));
    const unread = await failure(login(exchangeOf(odd.base), fields));
    expect(unread).toMatchObject({ message: expect.stringContaining('expected a token in one of token, accessToken') });
    for (const text of [refused, unread].map(everything)) {
      for (const secret of [TOKEN, 'correct', '123456', 'me@example.org']) expect(text).not.toContain(secret);
    }
  });

  /** A server that accepts every login with a new token, and accepts the newest token. */
  async function withLogins(expiresAt?: () => string) {
    let logins = 0;
    const { base, seen } = await script((response, request) => {
      if (request.url === '/auth/login') {
        logins += 1;
        json({ token: `token-${logins}`, ...(expiresAt ? { expiresAt: expiresAt() } : {}) })(response, request);
      } else if (request.headers.authorization === `Bearer token-${logins}`) json(noPages)(response, request);
      else json({ status: 401, error: 'Unauthorized', message: 'expired' }, 401)(response, request);
    });
    const exchange = exchangeOf(base, { concurrency: 1 });
    const account = new AccountClient(exchange, { jwt: new LoginSession(exchange, fields) });
    return { account, urls: () => seen.map(({ url }) => url.split('?')[0]), revoke: () => (logins += 1) };
  }

  it('happens when a token is first needed, once for concurrent calls [5.3/login]', async () => {
    const { account, urls } = await withLogins();
    await Promise.all([account.transactions(), account.transactions()]);
    await account.transactions();
    expect(urls()).toEqual(['/auth/login', '/api/transactions', '/api/transactions', '/api/transactions']);
  });

  it('happens again when the token is rejected, and the rejected request is repeated [5.3/lifetime]', async () => {
    const { account, urls, revoke } = await withLogins();
    await account.transactions();
    revoke();
    await account.transactions();
    expect(urls()).toEqual([
      '/auth/login',
      '/api/transactions',
      '/api/transactions',
      '/auth/login',
      '/api/transactions',
    ]);
  });

  it('happens again when the token has expired, and not before [5.3/lifetime]', async () => {
    const { account, urls } = await withLogins(() => new Date(Date.now() + 5000).toISOString());
    await account.transactions();
    await account.transactions();
    expect(urls().filter((url) => url === '/auth/login').length).toBe(2);
    const long = await withLogins(() => new Date(Date.now() + 3_600_000).toISOString());
    await long.account.transactions();
    await long.account.transactions();
    expect(long.urls().filter((url) => url === '/auth/login').length).toBe(1);
  });

  it('happens twice at most for one call', async () => {
    const { base, seen } = await script((response, request) =>
      request.url === '/auth/login' ? json({ token: 'T.T' })(response, request) : json({}, 401)(response, request),
    );
    const exchange = exchangeOf(base);
    const account = new AccountClient(exchange, { jwt: new LoginSession(exchange, fields) });
    expect(await failure(account.transactions())).toBeInstanceOf(UnauthorizedError);
    expect(seen.map(({ url }) => url.split('?')[0])).toEqual([
      '/auth/login',
      '/api/transactions',
      '/auth/login',
      '/api/transactions',
    ]);
  });

  it('that fails rejects the call, and is repeated by the next one', async () => {
    const { base, seen } = await script(json({}, 401), json({ token: 'T.T' }), json(noPages));
    const exchange = exchangeOf(base);
    const account = new AccountClient(exchange, { jwt: new LoginSession(exchange, fields) });
    expect(await failure(account.transactions())).toMatchObject({ message: expect.stringContaining('login POST') });
    await account.transactions();
    expect(seen.length).toBe(3);
  });

  it('does not delay a call whose signal is aborted', async () => {
    const { base, seen } = await script(() => undefined);
    const exchange = exchangeOf(base);
    const account = new AccountClient(exchange, { jwt: new LoginSession(exchange, fields) });
    const abort = new AbortController();
    const asking = failure(account.transactions({}, { signal: abort.signal }));
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await asking).toBe(reason);
  });
});
