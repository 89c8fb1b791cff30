import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Account, authMessage, Book, openAccount, targetAt } from './server-accounts.js';
import { spawnExchange } from './server-process-target.js';

async function start(data: string, ...flags: string[]) {
  const exchange = await spawnExchange('--bots', '0', '--events', '1', '--data', data, ...flags);
  onTestFinished(() => void exchange.child.kill('SIGKILL'));
  const { ready, child } = exchange;
  return {
    ...exchange,
    target: targetAt(ready.url, ready.control.token),
    end: async (signal: 'SIGKILL' | 'SIGTERM') => {
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}

/** The same account at another address. */
const at = (account: Account, target: Account['target']): Account =>
  Object.assign(Object.create(Object.getPrototypeOf(account)), account, { target });

describe('--data', () => {
  it('keeps accounts, keys, logins, codes, orders, TP/SL orders, trades and money across kill -9', async () => {
    const data = temporaryFolder();
    const first = await start(data);
    const [ann, bob] = [await openAccount(first.target), await openAccount(first.target, { otp: true })];
    const book = await Book.open(first.target);
    await book.mint(ann, bob, 0.4, 10);
    await book.limit(ann, 'SELL', 'YES', 0.9, 3);
    await book.tpsl(ann, 'YES', 5, { t: 0.8 });
    await first.target.control('POST', '/withdrawals', { userId: bob.userId, amount: 1.5 });
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
    await first.end('SIGKILL');

    const second = await start(data);
    const [annAgain, bobAgain] = [at(ann, second.target), at(bob, second.target)];
    expect([await read(annAgain), await read(bobAgain)]).toEqual(before);
    expect((await annAgain.bearer('GET', '/api/transactions', undefined, token)).status).toBe(200);
    expect((await second.target.control('GET', `/mailbox?email=${ann.email}`)).body).toEqual({ code });
    const created = await annAgain.bearer('POST', '/auth/api-key', { code }, token);
    expect(created.status).toBe(200);
    await second.target.control('POST', `/accounts/${bob.userId}/block`);
    await second.end('SIGTERM');

    const third = await start(data);
    expect((await at(bob, third.target).get('/api/user-balances')).status).toBe(403);
    expect((await at(ann, third.target).get('/api/user-balances')).status).toBe(401);
    annAgain.key = created.body;
    expect((await at(annAgain, third.target).get('/api/user-balances')).status).toBe(200);
    expect((await third.target.control('GET', '/truth')).body.identity.balanced).toBe(true);
  }, 120_000);

  it('has every order that was answered, however it is killed while they come', async () => {
    const data = temporaryFolder();
    const first = await start(data);
    const account = await openAccount(first.target, { usdc: 100_000 });
    const book = await Book.open(first.target);
    const answered: string[] = [];
    const gone = once(first.child, 'exit');
    const place = async () => {
      for (;;) {
        const answer = await account
          .post('/orders/limit', { ...book.target('YES'), s: 'BUY', p: 0.1, q: 1 })
          .catch(() => undefined);
        if (answer?.status !== 200) return;
        answered.push(answer.body.i);
        if (answered.length === 300) first.child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 16 }, place));
    // Its connections break before it is gone, and so long it holds the folder.
    await gone;
    expect(answered.length).toBeGreaterThanOrEqual(300);

    const second = await start(data);
    const again = at(account, second.target);
    const kept = new Set<string>();
    for (let page = 0; kept.size >= page * 100; page++) {
      const { i } = (await again.get(`/api/history/orders?size=100&page=${page}`)).body;
      for (const order of i) kept.add(order.i);
    }
    expect(answered.filter((id) => !kept.has(id))).toEqual([]);
    // At most what was under way when it was killed.
    expect(kept.size - answered.length).toBeLessThanOrEqual(16);
    expect((await again.get('/api/user-balances')).body[0].f).toBeCloseTo(100_000 - kept.size * 0.1002, 6);
  }, 120_000);

  it('keeps the key of logins where its owner alone can read it', async () => {
    const data = temporaryFolder();
    const first = await start(data);
    await first.end('SIGTERM');
    const [path] = (await readdir(data, { recursive: true })).filter((name) => name.endsWith('token.key'));
    expect((await stat(join(data, path ?? ''))).mode & 0o777).toBe(0o600);
  });
});

describe('what the exchange says of itself', () => {
  it('never holds a password, secret, token, code or signature, in logs or answers', async () => {
    const data = temporaryFolder();
    const exchange = await start(data, '--log-level', 'trace');
    const { target } = exchange;
    const account = await openAccount(target, { otp: true });
    const token = await account.login();
    const code = await account.code(token);
    const wrongPassword = 'a password that is wrong';
    const answers = [
      await target.request('POST', '/auth/login', {
        body: JSON.stringify({ email: account.email, password: wrongPassword }),
      }),
      await target.request('POST', '/auth/login', {
        body: JSON.stringify({ email: account.email, password: [wrongPassword] }),
      }),
      await target.request('POST', '/auth/login', { body: `{"password":"${account.password}"` }),
      await account.bearer('POST', '/auth/api-key', { code: [code] }, token),
      await account.bearer('POST', '/auth/api-key', { code, otp: [account.otp] }, token),
      await account.bearer('GET', '/auth/api-key', undefined, token),
      await account.bearer('GET', '/api/transactions', undefined, `${token}x`),
      await account.signed('GET', '/api/user-balances', undefined, { timestamp: '1' }),
      await account.post('/orders/limit', { s: account.key.secret.length }),
      await target.control('POST', '/accounts', { email: account.email, password: account.password, usdc: 1 }),
      await target.control('POST', '/accounts', { email: 'x@y', password: [account.password], usdc: 1 }),
    ];
    const socket = await target.connect('/order/ws');
    const auth = authMessage(account.key, '/order/ws', '1');
    const frame = JSON.stringify(await socket.ask(auth));
    for (const kind of ['http-500', 'http-reset', 'truncated-body']) {
      await target.control('POST', '/faults', { kind, stream: 'rest' });
      await account.get('/api/user-balances').catch(() => undefined);
    }
    await exchange.end('SIGTERM');
    const said = [exchange.stderr(), frame, ...answers.map(({ text }) => text)].join('\n');
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
