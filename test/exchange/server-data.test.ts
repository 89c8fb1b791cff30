import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestExchange, type TestExchangeProcess } from '../support/exchange.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Account, authMessage, Book, openAccount, type Target } from './server-accounts.js';

const start = (data: string, options: { readonly logLevel?: string } = {}): Promise<TestExchangeProcess> =>
  startTestExchange({ ownProcess: true, events: 1, data, ...options });

/** The same account at another address. */
const at = (account: Account, target: Target): Account =>
  Object.assign(Object.create(Object.getPrototypeOf(account)), account, { target });

describe('--data', () => {
  it('retains accounts, keys, logins, codes, orders, TP/SL orders, trades and money across kill -9', async () => {
    const data = temporaryFolder();
    const first = await start(data);
    const [ann, bob] = [await openAccount(first), await openAccount(first, { otp: true })];
    const book = await Book.open(first);
    await book.mint(ann, bob, 0.4, 10);
    await book.limit(ann, 'SELL', 'YES', 0.9, 3);
    await book.tpsl(ann, 'YES', 5, { t: 0.8 });
    await first.control('POST', '/withdrawals', { userId: bob.userId, amount: 1.5 });
    const token = await ann.login();
    const code = await ann.code(token);
    const paths = [
      '/api/user-balances/full',
      '/api/history/orders',
      '/api/history/trades',
      '/api/history/activity',
      '/api/history/deals/open-positions',
      '/api/history/deals/active-orders',
      `/orders/tpsl?assetId=${book.market.yes}`,
      `/api/history/stats/profile/${bob.userId}`,
    ];
    const read = async (account: Account) => [
      ...(await Promise.all(paths.map(async (path) => (await account.get(path)).body))),
      (await account.bearer('GET', '/auth/api-key')).body,
      (await account.bearer('GET', '/api/transactions')).body,
      (await account.bearer('GET', '/api/deposit/usdc-address')).body,
    ];
    const before = [await read(ann), await read(bob)];
    await first.service.kill9();

    const second = await start(data);
    const [annAgain, bobAgain] = [at(ann, second), at(bob, second)];
    expect([await read(annAgain), await read(bobAgain)]).toEqual(before);
    expect((await annAgain.bearer('GET', '/api/transactions', undefined, token)).status).toBe(200);
    expect((await second.control('GET', `/mailbox?email=${ann.email}`)).body).toEqual({ code });
    const created = await annAgain.bearer('POST', '/auth/api-key', { code }, token);
    expect(created.status).toBe(200);
    await second.control('POST', `/accounts/${bob.userId}/block`);
    await second.stop();

    const third = await start(data);
    expect((await at(bob, third).get('/api/user-balances')).status).toBe(403);
    expect((await at(ann, third).get('/api/user-balances')).status).toBe(401);
    annAgain.key = created.body;
    expect((await at(annAgain, third).get('/api/user-balances')).status).toBe(200);
    expect((await third.control('GET', '/truth')).body.identity.balanced).toBe(true);
  });

  it('has every acknowledged order when it is killed under load', async () => {
    const data = temporaryFolder();
    const first = await start(data);
    const account = await openAccount(first, { usdc: 100_000 });
    const book = await Book.open(first);
    const answered: string[] = [];
    const place = async () => {
      for (;;) {
        const answer = await account
          .post('/orders/limit', { ...book.target('YES'), s: 'BUY', p: 0.1, q: 1 })
          .catch(() => undefined);
        if (answer?.status !== 200) return;
        answered.push(answer.body.i);
        if (answered.length === 300) void first.service.kill9();
      }
    };
    await Promise.all(Array.from({ length: 16 }, place));
    // Its connections break before it is gone, and so long it holds the folder.
    await first.service.exited;
    expect(answered.length).toBeGreaterThanOrEqual(300);

    const second = await start(data);
    const again = at(account, second);
    const kept = new Set<string>();
    for (let page = 0; kept.size >= page * 100; page++) {
      const { i } = (await again.get(`/api/history/orders?size=100&page=${page}`)).body;
      for (const order of i) kept.add(order.i);
    }
    expect(answered.filter((id) => !kept.has(id))).toEqual([]);
    // At most the requests in progress when it was killed.
    expect(kept.size - answered.length).toBeLessThanOrEqual(16);
    expect((await again.get('/api/user-balances')).body[0].f).toBeCloseTo(100_000 - kept.size * 0.1002, 6);
  });

  it('stores the key of logins readable by its owner only', async () => {
    const data = temporaryFolder();
    const first = await start(data);
    await first.stop();
    const [path] = (await readdir(data, { recursive: true })).filter((name) => name.endsWith('token.key'));
    expect((await stat(join(data, path ?? ''))).mode & 0o777).toBe(0o600);
  });
});

describe('health and metrics of the exchange', () => {
  it('never holds a password, secret, token, code or signature, in logs or answers', async () => {
    const data = temporaryFolder();
    const exchange = await start(data, { logLevel: 'trace' });
    const account = await openAccount(exchange, { otp: true });
    const token = await account.login();
    const code = await account.code(token);
    const wrongPassword = 'a password that is wrong';
    const answers = [
      await exchange.request('POST', '/auth/login', {
        body: JSON.stringify({ email: account.email, password: wrongPassword }),
      }),
      await exchange.request('POST', '/auth/login', {
        body: JSON.stringify({ email: account.email, password: [wrongPassword] }),
      }),
      await exchange.request('POST', '/auth/login', { body: `{"password":"${account.password}"` }),
      await account.bearer('POST', '/auth/api-key', { code: [code] }, token),
      await account.bearer('POST', '/auth/api-key', { code, otp: [account.otp] }, token),
      await account.bearer('GET', '/auth/api-key', undefined, token),
      await account.bearer('GET', '/api/transactions', undefined, `${token}x`),
      await account.signed('GET', '/api/user-balances', undefined, { timestamp: '1' }),
      await account.post('/orders/limit', { s: account.key.secret.length }),
      await exchange.control('POST', '/accounts', { email: account.email, password: account.password, usdc: 1 }),
      await exchange.control('POST', '/accounts', { email: 'x@y', password: [account.password], usdc: 1 }),
    ];
    const socket = await exchange.connect('/order/ws');
    const auth = authMessage(account.key, '/order/ws', '1');
    const frame = JSON.stringify(await socket.ask(auth));
    for (const kind of ['http-500', 'http-reset', 'truncated-body']) {
      await exchange.control('POST', '/faults', { kind, stream: 'rest' });
      await account.get('/api/user-balances').catch(() => undefined);
    }
    await exchange.stop();
    const said = [exchange.service.stderr, frame, ...answers.map(({ text }) => text)].join('\n');
    const secrets = [
      account.password,
      wrongPassword,
      account.key.secret,
      token,
      code,
      auth.d.signature,
      account.otp ?? '-',
    ];
    const control = exchange.ready.control.token;
    expect([...secrets, control].filter((secret) => said.includes(secret))).toEqual([]);
  });
});
