import { describe, expect, it } from 'vitest';
import { Tokens } from '../../exchange/server/auth/index.js';
import { ManualClock, ShiftedClock, START } from '../support/clocks.js';
import { startTestExchange } from '../support/exchange.js';
import { authMessage, Book, failure, openAccount, statusOf } from './server-accounts.js';

/** A server and an account whose clocks are set together. */
async function timed(options: { authTimeoutMs?: number; otp?: boolean } = {}) {
  const clock = new ShiftedClock();
  const server = await startTestExchange({ events: 0, clock, ...options });
  const account = await openAccount(server, { otp: options.otp ?? false, now: () => Math.floor(clock.nowMs() / 1000) });
  return { clock, server, account };
}

describe('time', () => {
  it('ends a JWT after one hour [5.3/lifetime]', async () => {
    const { clock, account } = await timed();
    const token = await account.login();
    const ask = async () => (await account.bearer('GET', '/api/transactions', undefined, token)).status;
    clock.seconds += 3590;
    expect(await ask()).toBe(200);
    clock.seconds += 11;
    expect(await ask()).toBe(401);
  });

  it('ends a confirmation code after ten minutes, also in the mailbox', async () => {
    const { clock, server, account } = await timed();
    const mailbox = () => server.control('GET', `/mailbox?email=${account.email}`);
    const token = await account.login();
    const code = await account.code(token);
    clock.seconds += 590;
    expect((await mailbox()).body).toEqual({ code });
    clock.seconds += 11;
    expect(statusOf(await mailbox())).toBe(404);
    expect(statusOf(await account.bearer('POST', '/auth/api-key', { code }, token))).toBe(400);
  });

  it('ends a key and its open streams at expiresAt', async () => {
    const { clock, server, account } = await timed();
    await account.newKey({ expiresAt: new Date(clock.nowMs() + 600_000).toISOString() });
    const { socket } = await account.stream('/balance/ws');
    clock.seconds += 590;
    await server.control('POST', '/deposits', { userId: account.userId, amount: 1 });
    expect(await socket.next()).toMatchObject({ b: 1001 });
    expect((await account.get('/api/user-balances')).status).toBe(200);
    clock.seconds += 11;
    expect(statusOf(await account.get('/api/user-balances'))).toBe(401);
    await server.control('POST', '/deposits', { userId: account.userId, amount: 1 });
    expect(await socket.next()).toEqual({ t: 'error', d: { error: expect.stringContaining('expired') } });
    expect(await socket.end()).toBe(1008);
    const late = await server.connect('/balance/ws');
    expect((await late.ask(authMessage(account.key, '/balance/ws', String(Math.floor(clock.nowMs() / 1000))))).t).toBe(
      'error',
    );
  });

  it('accepts timestamps that differ by 30 seconds, not by 31, for requests and AUTH, in whole seconds [5.1/rule-5 8/window]', async () => {
    const clock = new ManualClock();
    const server = await startTestExchange({ events: 0, clock });
    const now = START / 1e6;
    const account = await openAccount(server, { now: () => now });
    for (const fraction of [0, 0.999]) {
      clock.micros = START + fraction * 1e6;
      for (const [offset, status] of [
        [-31, 401],
        [-30, 200],
        [30, 200],
        [31, 401],
      ] as const) {
        const timestamp = String(now + offset);
        expect([offset, (await account.signed('GET', '/api/user-balances', undefined, { timestamp })).status]).toEqual([
          offset,
          status,
        ]);
        const socket = await server.connect('/order/ws');
        const answer = await socket.ask(authMessage(account.key, '/order/ws', timestamp));
        expect([offset, answer.t]).toEqual([offset, status === 200 ? 'success' : 'error']);
      }
    }
  });

  it('rejects the replay of a formerly valid AUTH message [5.5/drift]', async () => {
    const { clock, server, account } = await timed();
    const message = authMessage(account.key, '/order/ws');
    expect((await (await server.connect('/order/ws')).ask(message)).t).toBe('success');
    clock.seconds += 32;
    expect((await (await server.connect('/order/ws')).ask(message)).t).toBe('error');
  });

  it('closes unauthenticated connections, and no others', async () => {
    const { server, account } = await timed({ authTimeoutMs: 1500 });
    const [silent, wrong] = [await server.connect('/order/ws'), await server.connect('/balance/ws')];
    const { socket } = await account.stream('/order/ws');
    wrong.send({ t: 'AUTH' });
    expect(await silent.next()).toEqual({ t: 'error', d: { error: expect.stringContaining('AUTH') } });
    expect([await silent.end(), await wrong.end()]).toEqual([1008, 1008]);
    expect((await socket.ask({ t: 'still here' })).t).toBe('error');
  });
});

describe('tokens', () => {
  it('of another exchange, even one of the same seed, are foreign', async () => {
    const [here, there] = [await startTestExchange({ seed: 5 }), await startTestExchange({ seed: 5 })];
    const { email, password, userId } = here.core.seededAccounts()[0] ?? { email: '', password: '', userId: '' };
    expect(there.core.seededAccounts()[0]?.userId).toBe(userId);
    const { body } = await there.post('/auth/login', { email, password });
    const headers = { Authorization: `Bearer ${body.token}` };
    expect((await there.request('GET', '/auth/api-key', { headers })).status).toBe(200);
    expect(statusOf(await here.request('GET', '/auth/api-key', { headers }))).toBe(401);
  });

  it('are read back only as they were issued', async () => {
    const clock = new ManualClock();
    const tokens = new Tokens(clock);
    tokens.useKey(Buffer.alloc(32, 7));
    const { token, expiresAt } = await tokens.issue('user');
    expect([await tokens.subject(token), expiresAt]).toEqual(['user', START / 1e6 + 3600]);
    for (let n = 0; n < token.length; n++) {
      const changed = `${token.slice(0, n)}${token[n] === 'A' ? 'B' : 'A'}${token.slice(n + 1)}`;
      expect(await tokens.subject(changed)).toBeUndefined();
    }
    clock.micros += 3600e6;
    expect(await tokens.subject(token)).toBeUndefined();
  });
});

describe('control calls about accounts', () => {
  it('open accounts with a deposit, which can log in immediately and have no key', async () => {
    const server = await startTestExchange({ events: 0 });
    const fine = { email: 'New@Test.example', password: 'a ☂ password', usdc: 12.345678 };
    const { status, body } = await server.control('POST', '/accounts', fine);
    expect([status, body]).toEqual([200, { userId: expect.any(String) }]);
    const login = await server.post('/auth/login', { email: 'new@test.EXAMPLE', password: fine.password });
    const headers = { Authorization: `Bearer ${login.body.token}` };
    expect(statusOf(await server.request('GET', '/auth/api-key', { headers }))).toBe(404);
    const transactions = await server.request('GET', '/api/transactions', { headers });
    expect(transactions.body.i).toMatchObject([{ t: 'DEPOSIT', am: 12.345678 }]);
    expect(failure(await server.control('POST', '/accounts', { ...fine, email: 'NEW@test.example' }))[0]).toBe(400);
  });

  it('return the second factor, the same after every restart, when otp is requested', async () => {
    const { account } = await timed({ otp: true });
    expect(account.otp).toMatch(/^\d{6}$/);
    expect((await account.get('/api/user-balances')).status).toBe(200);
  });

  it('reject an invalid account or amount with 400, and an unknown account with 404', async () => {
    const server = await startTestExchange({ events: 0 });
    const account = await openAccount(server, { usdc: 10 });
    const { userId } = account;
    const fine = { email: 'a@b', password: 'x', usdc: 1 };
    const wrong: [string, unknown][] = [
      ...[
        undefined,
        [],
        { ...fine, email: 'ab' },
        { ...fine, email: `${'a'.repeat(300)}@b` },
        { ...fine, email: 5 },
      ].map((body): [string, unknown] => ['/accounts', body]),
      ...['', 5, null].map((password): [string, unknown] => ['/accounts', { ...fine, password }]),
      ...[-1, '1', null, 1e-7, 1e300].map((usdc): [string, unknown] => ['/accounts', { ...fine, usdc }]),
      ['/accounts', { ...fine, otp: 'yes' }],
      ...['/deposits', '/withdrawals'].flatMap((path) =>
        [
          undefined,
          {},
          { userId },
          { amount: 1 },
          ...[0, -1, '1', null, 1e-7, 1e300].map((amount) => ({ userId, amount })),
        ].map((body): [string, unknown] => [path, body]),
      ),
      ['/withdrawals', { userId, amount: 10.000001 }],
      ['/deposits', { userId, amount: 1e9 }],
    ];
    for (const [path, body] of wrong) {
      expect([path, body, statusOf(await server.control('POST', path, body))]).toEqual([path, body, 400]);
    }
    for (const path of ['/deposits', '/withdrawals']) {
      expect(statusOf(await server.control('POST', path, { userId: 'nobody', amount: 1 }))).toBe(404);
    }
    expect(statusOf(await server.control('GET', '/mailbox?email=nobody@test.example'))).toBe(404);
    expect(statusOf(await server.control('GET', '/mailbox'))).toBe(400);
    const { body } = await account.get('/api/user-balances');
    expect(body).toMatchObject([{ b: 10, f: 10 }]);
    expect(server.core.truth().identity).toMatchObject({ withdrawals: 0, balanced: true });
  });

  it('withdraw free funds, and not those locked by orders', async () => {
    const server = await startTestExchange({ events: 0 });
    const account = await openAccount(server, { usdc: 10 });
    const book = await Book.open(server);
    await book.limit(account, 'BUY', 'YES', 0.5, 10);
    const withdraw = (amount: number) => server.control('POST', '/withdrawals', { userId: account.userId, amount });
    expect(statusOf(await withdraw(4.990001))).toBe(400);
    expect((await withdraw(4.99)).body).toMatchObject({ t: 'WITHDRAWAL', am: 4.99, u: account.userId });
    expect((await account.get('/api/user-balances')).body).toEqual([{ i: book.usdc, b: 5.01, f: 0 }]);
  });

  it('need the control token', async () => {
    const server = await startTestExchange({ events: 0 });
    const { userId, email } = await openAccount(server);
    const calls = [
      ['POST', '/accounts'],
      ['POST', '/deposits'],
      ['POST', '/withdrawals'],
      ['POST', `/accounts/${userId}/block`],
      ['GET', `/mailbox?email=${email}`],
    ];
    for (const [method = '', path = ''] of calls) {
      const headers = { 'X-Control-Token': 'wrong' };
      expect([path, statusOf(await server.request(method, `/_control${path}`, { headers }))]).toEqual([path, 401]);
    }
  });
});
