import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { conformanceTarget } from './conformance-target.js';
import { failure, nowSeconds, openAccount, sign, statusOf } from './server-accounts.js';

const target = await conformanceTarget();
const SIGNED_PATHS: [string, string][] = [
  ['POST', '/orders/limit'],
  ['POST', '/orders/market'],
  ['DELETE', '/orders/limit/nothing'],
  ['GET', '/orders/tpsl'],
  ['POST', '/orders/tpsl'],
  ['DELETE', '/orders/tpsl/nothing'],
  ['GET', '/api/user-balances'],
  ['GET', '/api/user-balances/full'],
  ['GET', '/api/history/orders'],
  ['GET', '/api/history/trades'],
  ['GET', '/api/history/activity'],
  ['GET', '/api/history/deals/open-positions'],
  ['GET', '/api/history/deals/active-orders'],
  ['GET', '/api/history/stats/profile/nobody'],
  ['GET', '/api/history/stats/profile/nobody/positions'],
];
const JWT_PATHS: [string, string][] = [
  ['POST', '/auth/api-key/send-code'],
  ['POST', '/auth/api-key'],
  ['GET', '/auth/api-key'],
  ['DELETE', '/auth/api-key'],
  ['GET', '/api/deposit/usdc-address'],
  ['GET', '/api/transactions'],
];

describe('login and JWT (parts 4.1, 5.3)', () => {
  it('POST /auth/login answers a token and when it ends, one hour on [4.1/login 5.3/login]', async () => {
    const { email, password } = await openAccount(target);
    const { status, body } = await target.request('POST', '/auth/login', { body: JSON.stringify({ email, password }) });
    expect([status, Object.keys(body).sort()]).toEqual([200, ['expiresAt', 'token']]);
    const life = Date.parse(body.expiresAt) / 1000 - nowSeconds();
    expect(life).toBeGreaterThan(3590);
    expect(life).toBeLessThanOrEqual(3600);
    expect(body.token.split('.').map((part: string) => Buffer.from(part, 'base64url').length > 0)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('works for the accounts of the ready line, with the keys that it names', async () => {
    const { email, password, apiKey, apiSecret } = target.ready.accounts[0] ?? fail();
    const { status } = await target.request('POST', '/auth/login', { body: JSON.stringify({ email, password }) });
    expect(status).toBe(200);
    const [timestamp, path] = [String(nowSeconds()), '/api/user-balances'];
    const headers = {
      'SERVICE-API-KEY': apiKey,
      'SERVICE-API-SIGNATURE': sign(apiSecret, `${timestamp}GET${path}`),
      'SERVICE-API-TIMESTAMP': timestamp,
    };
    expect((await target.request('GET', path, { headers })).status).toBe(200);
  });

  it('answers 401 with the same message for a wrong password, another account and an unknown one', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    const attempts = [
      { email: ann.email, password: bob.password },
      { email: ann.email, password: `${ann.password} ` },
      { email: 'nobody@test.example', password: ann.password },
      { email: ann.userId, password: ann.password },
      { email: 'ñ☂@test.example', password: '☂'.repeat(10_000) },
    ];
    const answers = await Promise.all(
      attempts.map((body) => target.request('POST', '/auth/login', { body: JSON.stringify(body) })),
    );
    expect(new Set(answers.map((answer) => failure(answer).join()))).toEqual(
      new Set([failure(answers[0] ?? fail()).join()]),
    );
    expect(answers.map(statusOf)).toEqual(attempts.map(() => 401));
  });

  it('answers 400 for fields that are missing or no texts, without repeating a password', async () => {
    const { email, password } = await openAccount(target);
    const bodies = [
      undefined,
      '[]',
      '"text"',
      'null',
      '{',
      JSON.stringify({ email }),
      JSON.stringify({ password }),
      JSON.stringify({ email: '', password }),
      JSON.stringify({ email, password: '' }),
      JSON.stringify({ email: 5, password }),
      JSON.stringify({ email, password: 98_765_432 }),
      JSON.stringify({ email, password: ['98765432'] }),
      JSON.stringify({ email, password, otp: 98_765_432 }),
    ];
    for (const body of bodies) {
      const answer = await target.request('POST', '/auth/login', body === undefined ? {} : { body });
      expect([body, statusOf(answer)]).toEqual([body, 400]);
      expect(answer.text).not.toContain('98765432');
      expect(answer.text).not.toContain(password);
    }
  });

  it('requires the second factor if it is enabled', async () => {
    const { email, password, otp } = await openAccount(target, { otp: true });
    const login = (more: object) =>
      target.request('POST', '/auth/login', { body: JSON.stringify({ email, password, ...more }) });
    expect(otp).toMatch(/^\d{6}$/);
    expect(statusOf(await login({}))).toBe(401);
    expect(statusOf(await login({ otp: null }))).toBe(401);
    expect(statusOf(await login({ otp: otp === '000000' ? '000001' : '000000' }))).toBe(401);
    expect((await login({ otp })).status).toBe(200);
  });

  it('is needed for keys, deposit address and transactions: missing, broken or foreign answers 401 [5.3/needed]', async () => {
    const account = await openAccount(target);
    const token = await account.login();
    const [header, payload, signature] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const foreign = `${header}.${payload}`;
    const tokens = [
      '',
      'x',
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature}.`,
      `${header}.${encode({ ...claims, exp: claims.exp + 1 })}.${signature}`,
      `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      `${foreign}.${sign(randomBytes(32).toString('base64url'), foreign)}`,
    ];
    for (const [method, path] of JWT_PATHS) {
      expect([path, statusOf(await target.request(method, path))]).toEqual([path, 401]);
      for (const wrong of tokens) {
        expect([path, wrong, statusOf(await account.bearer(method, path, undefined, wrong))]).toEqual([
          path,
          wrong,
          401,
        ]);
      }
      const headers = { Authorization: `Basic ${token}` };
      expect([path, statusOf(await target.request(method, path, { headers }))]).toEqual([path, 401]);
    }
    expect((await account.bearer('GET', '/api/transactions', undefined, token)).status).toBe(200);
  });

  it('does not open API-key endpoints: a JWT there answers 401', async () => {
    const account = await openAccount(target);
    const token = await account.login();
    for (const [method, path] of SIGNED_PATHS) {
      expect([path, statusOf(await account.bearer(method, path, undefined, token))]).toEqual([path, 401]);
    }
  });
});

describe('the life of an API key (parts 2, 4.1, 5.4)', () => {
  it('begins with a code from the mailbox; the secret shows in the answer to its creation alone [2/api-key 4.1/send-code 4.1/create 4.1/get 5.4/once]', async () => {
    const account = await openAccount(target);
    const token = await account.login();
    const sent = await account.bearer('POST', '/auth/api-key/send-code', undefined, token);
    expect(sent.status).toBe(200);
    expect(sent.text).not.toMatch(/\d{6}/);
    const { body: mail } = await target.control('GET', `/mailbox?email=${account.email}`);
    expect(mail).toEqual({ code: expect.stringMatching(/^\d{6}$/) });
    const created = await account.bearer('POST', '/auth/api-key', { code: mail.code }, token);
    expect([created.status, created.body]).toEqual([
      200,
      {
        id: expect.any(String),
        key: expect.stringMatching(/^pk_\w+$/),
        secret: expect.stringMatching(/^[\w-]{43}$/),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        expiresAt: null,
      },
    ]);
    const { secret, ...rest } = created.body;
    const shown = await account.bearer('GET', '/auth/api-key', undefined, token);
    expect([shown.status, shown.body]).toEqual([200, rest]);
    account.key = created.body;
    expect((await account.get('/api/user-balances')).status).toBe(200);
  });

  it('ends the one before it: one key is active per account (part 8) [2/one-key 3/key-replaces 5.4/replace 8/active-keys]', async () => {
    const account = await openAccount(target);
    const old = account.key;
    await account.newKey();
    expect(account.key.key).not.toBe(old.key);
    expect((await account.get('/api/user-balances')).status).toBe(200);
    account.key = old;
    expect(statusOf(await account.get('/api/user-balances'))).toBe(401);
  });

  it('is revoked by DELETE, and access with it, until another key is created [3/key-revoked 4.1/delete 5.4/replace]', async () => {
    const account = await openAccount(target);
    const token = await account.login();
    const deleted = await account.bearer('DELETE', '/auth/api-key', undefined, token);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect(statusOf(await account.get('/api/user-balances'))).toBe(401);
    expect(statusOf(await account.bearer('GET', '/auth/api-key', undefined, token))).toBe(404);
    expect(statusOf(await account.bearer('DELETE', '/auth/api-key', undefined, token))).toBe(404);
    await account.newKey();
    expect((await account.get('/api/user-balances')).status).toBe(200);
  });

  it('needs the newest code, once [4.1/create 5.4/code]', async () => {
    const account = await openAccount(target);
    const token = await account.login();
    const create = (body: unknown) => account.bearer('POST', '/auth/api-key', body, token);
    const first = await account.code(token);
    let code = await account.code(token);
    while (code === first) code = await account.code(token);
    expect(failure(await create({ code: first }))[0]).toBe(400);
    expect((await create({ code })).status).toBe(200);
    expect(failure(await create({ code }))[0]).toBe(400);
    expect(statusOf(await target.control('GET', `/mailbox?email=${account.email}`))).toBe(404);
    for (const body of [undefined, '{', '[]', {}, { code: '' }, { code: 123_456 }, { code: null }, { code: '☂' }]) {
      expect([body, statusOf(await create(body))]).toEqual([body, 400]);
    }
    expect((await create({ code: 918_273 })).text).not.toContain('918273');
  });

  it('requires the second factor if it is enabled; the code remains valid for a second attempt [4.1/create 5.4/code]', async () => {
    const account = await openAccount(target, { otp: true });
    const token = await account.login();
    const create = (body: object) => account.bearer('POST', '/auth/api-key', body, token);
    const code = await account.code(token);
    const { otp } = account;
    for (const wrong of [undefined, null, 'wrong', '']) {
      expect(failure(await create({ code, otp: wrong }))[0]).toBe(wrong === '' ? 400 : 401);
    }
    expect(failure(await create({ code: '☂', otp }))[0]).toBe(400);
    expect((await create({ code, otp })).status).toBe(200);
  });

  it('may expire: null means never, and an invalid or past time answers 400 [4.1/create]', async () => {
    const account = await openAccount(target);
    const token = await account.login();
    const code = await account.code(token);
    for (const expiresAt of ['', 'tomorrow', '2020-01-01T00:00:00Z', '2026-02-30T00:00:00Z', 5, true, []]) {
      const answer = await account.bearer('POST', '/auth/api-key', { code, expiresAt }, token);
      expect([expiresAt, statusOf(answer)]).toEqual([expiresAt, 400]);
    }
    const { body } = await account.bearer(
      'POST',
      '/auth/api-key',
      { code, expiresAt: '2100-01-01T02:00:00+02:00' },
      token,
    );
    expect(body.expiresAt).toBe('2100-01-01T00:00:00.000Z');
    expect((await account.newKey({ expiresAt: null })).body.expiresAt).toBeNull();
  });

  it('past its end answers 401', async () => {
    const account = await openAccount(target);
    await account.newKey({ expiresAt: new Date(Date.now() + 5000).toISOString() });
    expect((await account.get('/api/user-balances')).status).toBe(200);
    await until(async () => (await account.get('/api/user-balances')).status !== 200);
    expect(failure(await account.get('/api/user-balances'))).toEqual([401, expect.stringContaining('expired')]);
  });

  it('blocked answers 403 permanently, and no other key can be created [5.1/rule-7 7.2/403]', async () => {
    const account = await openAccount(target);
    expect((await target.control('POST', `/accounts/${account.userId}/block`)).status).toBe(200);
    for (const [method, path] of SIGNED_PATHS) {
      expect([path, statusOf(await account.signed(method, path))]).toEqual([path, 403]);
    }
    expect(statusOf(await account.signed('GET', '/api/user-balances', undefined, { signature: 'x' }))).toBe(401);
    const token = await account.login();
    const code = await account.code(token);
    expect(statusOf(await account.bearer('POST', '/auth/api-key', { code }, token))).toBe(403);
    expect(statusOf(await target.control('POST', '/accounts/nobody/block'))).toBe(404);
  });
});

describe('signatures (part 5.1)', () => {
  const PATH = '/api/history/orders';

  it('rules 1 and 2: cover timestamp, method and path, without the query [5.1/headers 5.1/rule-1 5.1/rule-2]', async () => {
    const account = await openAccount(target);
    const t = String(nowSeconds());
    const ask = (message: string, path = PATH) => account.signed('GET', path, undefined, { timestamp: t, message });
    expect((await ask(`${t}GET${PATH}`)).status).toBe(200);
    expect((await ask(`${t}GET${PATH}`, `${PATH}?page=1&size=3`)).body).toMatchObject({ p: 1, s: 3 });
    const others = [
      `${t}GET${PATH}?page=1`,
      `${t}get${PATH}`,
      `${t}POST${PATH}`,
      `${t} GET ${PATH}`,
      `${t}GET${target.url}${PATH}`,
      `${t}GET${PATH}/`,
      `${Number(t) - 1}GET${PATH}`,
      `GET${PATH}`,
      `${t}GET${PATH}{}`,
    ];
    for (const message of others)
      expect([message, statusOf(await ask(message, `${PATH}?page=1`))]).toEqual([message, 401]);
  });

  it('rule 3: cover the exact text of the body, and nothing where there is none [5.1/rule-3]', async () => {
    const account = await openAccount(target);
    const path = '/orders/limit';
    const body = '{ "e":1,\n"q" : 1.0, "☂":"\\u2602" }';
    const t = String(nowSeconds());
    const ask = (message: string, sent?: string) => account.signed('POST', path, sent, { timestamp: t, message });
    expect(statusOf(await ask(`${t}POST${path}${body}`, body))).toBe(400);
    for (const other of ['', JSON.stringify(JSON.parse(body)), `${body} `, body.replace('\\u2602', '☂')]) {
      expect([other, statusOf(await ask(`${t}POST${path}${other}`, body))]).toEqual([other, 401]);
    }
    expect(statusOf(await ask(`${t}POST${path}`))).toBe(400);
    expect(statusOf(await ask(`${t}POST${path}{}`))).toBe(401);
    const deleted = await account.signed('DELETE', '/orders/limit/x', undefined, {
      timestamp: t,
      message: `${t}DELETE/orders/limit/x`,
    });
    expect(statusOf(deleted)).toBe(404);
  });

  it('rule 4: are base64url without padding, keyed with the decoded secret [5.1/rule-4]', async () => {
    const account = await openAccount(target);
    const t = String(nowSeconds());
    const good = sign(account.key.secret, `${t}GET${PATH}`);
    const ask = (signature: string) => account.signed('GET', PATH, undefined, { timestamp: t, signature });
    expect((await ask(good)).status).toBe(200);
    const standard = Buffer.from(good, 'base64url').toString('base64');
    const hex = Buffer.from(good, 'base64url').toString('hex');
    const notDecoded = sign(Buffer.from(account.key.secret).toString('base64url'), `${t}GET${PATH}`);
    for (const wrong of [
      '',
      'x',
      `${good}=`,
      standard,
      hex,
      notDecoded,
      good.toUpperCase(),
      good.slice(1),
      `${good}x`,
    ]) {
      expect([wrong, statusOf(await ask(wrong))]).toEqual([wrong, 401]);
    }
  });

  it('rule 5: hold within 30 seconds of the server, either way [5.1/rule-5 8/window]', async () => {
    const account = await openAccount(target);
    const ask = async (timestamp: string) => (await account.signed('GET', PATH, undefined, { timestamp })).status;
    // Not 31 and 30 on the dot: the exchange may see another second than this process.
    const offsets = [-3600, -32, -15, 0, 29, 45, 3600];
    const statuses = await Promise.all(offsets.map((offset) => ask(String(nowSeconds() + offset))));
    expect(statuses).toEqual([401, 401, 200, 200, 200, 401, 401]);
    for (const wrong of [
      '',
      'now',
      String(Date.now()),
      `${nowSeconds()}.5`,
      `0x${nowSeconds().toString(16)}`,
      `+${nowSeconds()}`,
      '1e9',
      new Date().toISOString(),
    ]) {
      expect([wrong, await ask(wrong)]).toEqual([wrong, 401]);
    }
  });

  it('rule 6: together with a Bearer token answer 400, before any other error and on public routes [5.1/rule-6 7.2/400]', async () => {
    const account = await openAccount(target);
    const Authorization = `Bearer ${await account.login()}`;
    for (const [method, path] of [...SIGNED_PATHS, ...JWT_PATHS, ['GET', '/api/coins'], ['POST', '/auth/login']]) {
      const answer = await account.signed(method ?? '', path ?? '', undefined, { headers: { Authorization } });
      expect([path, statusOf(answer)]).toEqual([path, 400]);
    }
    const broken = { Authorization: 'Bearer', 'SERVICE-API-SIGNATURE': undefined, 'SERVICE-API-TIMESTAMP': undefined };
    expect(statusOf(await account.signed('GET', PATH, undefined, { headers: broken }))).toBe(400);
  });

  it('rule 7: missing or wrong, of key or signature, answers 401 in the same words [5.1/rule-7 7.2/401]', async () => {
    const [ann, bob] = [await openAccount(target), await openAccount(target)];
    for (const name of ['SERVICE-API-KEY', 'SERVICE-API-SIGNATURE', 'SERVICE-API-TIMESTAMP']) {
      expect([name, statusOf(await ann.signed('GET', PATH, undefined, { headers: { [name]: undefined } }))]).toEqual([
        name,
        401,
      ]);
    }
    const wrongs = [
      { 'SERVICE-API-KEY': bob.key.key },
      { 'SERVICE-API-KEY': 'pk_unknown' },
      { 'SERVICE-API-KEY': '' },
      { 'SERVICE-API-KEY': '__proto__' },
      { 'SERVICE-API-KEY': `${ann.key.key}0` },
      { 'SERVICE-API-SIGNATURE': sign(bob.key.secret, `${nowSeconds()}GET${PATH}`) },
    ];
    for (const headers of wrongs) {
      expect(failure(await ann.signed('GET', PATH, undefined, { headers }))).toEqual([
        401,
        'the API key or the signature is wrong',
      ]);
    }
    for (const [method, path] of SIGNED_PATHS) {
      expect([path, statusOf(await target.request(method, path))]).toEqual([path, 401]);
    }
  });
});

describe('access (parts 5.2, 5.3, 5.6)', () => {
  it('answers 403 for an API key where only a JWT will do, and 401 when that key is wrong too [5.2/scope 5.2/jwt-only 7.2/403]', async () => {
    const account = await openAccount(target);
    for (const [method, path] of JWT_PATHS) {
      expect([path, statusOf(await account.signed(method, path))]).toEqual([path, 403]);
      expect([path, statusOf(await account.signed(method, path, undefined, { signature: 'x' }))]).toEqual([path, 401]);
    }
  });

  it('accepts a valid key everywhere else [5.2/scope]', async () => {
    const account = await openAccount(target);
    for (const [method, path] of SIGNED_PATHS) {
      const { status } = await account.signed(method, path);
      expect([path, [200, 400, 404].includes(status)]).toEqual([path, true]);
    }
  });

  it('requires no credentials for public data [5.6/public]', async () => {
    const calls: [string, string][] = [
      ['GET', '/api/coins'],
      ['GET', '/api/categories'],
      ['GET', '/api/tags/popular'],
      ['POST', '/api/events/search'],
    ];
    const account = await openAccount(target);
    for (const [method, path] of calls) {
      expect([path, (await target.request(method, path)).status]).toEqual([path, 200]);
      expect([path, (await account.signed(method, path, undefined, { signature: 'x' })).status]).toEqual([path, 200]);
      const bearer = await target.request(method, path, { headers: { Authorization: 'Bearer x' } });
      expect([path, bearer.status]).toEqual([path, 200]);
    }
  });

  it('checks path and method, both credentials, credentials, body, fields, existence, in this order', async () => {
    const account = await openAccount(target);
    const both = { headers: { Authorization: 'Bearer x' } };
    expect(statusOf(await account.signed('GET', '/orders/limit', undefined, both))).toBe(404);
    expect(statusOf(await account.signed('PUT', '/orders/limit', '{', both))).toBe(404);
    expect(statusOf(await account.signed('POST', '/orders/limit/', '{}'))).toBe(404);
    expect(statusOf(await account.signed('POST', '/orders/limit', '{', { ...both, signature: 'x' }))).toBe(400);
    expect(statusOf(await account.signed('POST', '/orders/limit', '{', { signature: 'x' }))).toBe(401);
    expect(failure(await account.signed('POST', '/orders/limit', '{'))).toEqual([400, 'the body is not JSON']);
    expect(statusOf(await account.bearer('POST', '/auth/api-key', '{', 'x'))).toBe(401);
    const large = JSON.stringify({ x: 'x'.repeat(200_000) });
    expect(statusOf(await account.signed('POST', '/orders/limit', large, { signature: 'x' }))).toBe(401);
    expect(failure(await account.post('/orders/limit', large))).toEqual([400, 'the body is larger than 65536 bytes']);
    expect(statusOf(await account.bearer('POST', '/auth/api-key', large))).toBe(400);
    const limit = { e: 'x', o: 'x', ba: 'x', qa: 'x', s: 'BUY', p: 0.5, q: 1 };
    expect(statusOf(await account.post('/orders/limit', { ...limit, p: 1 }))).toBe(400);
    const fits = JSON.stringify({ ...limit, pad: 'x'.repeat(65_536 - JSON.stringify({ ...limit, pad: '' }).length) });
    expect(fits.length).toBe(65_536);
    expect(failure(await account.post('/orders/limit', fits))[1]).toMatch(/^qa/);
  });

  it('answers in the shape of part 7.1, with the name of the status [7.1/body 7.4/open]', async () => {
    const account = await openAccount(target);
    const answers = [
      await account.post('/orders/limit', {}),
      await target.request('GET', '/api/user-balances'),
      await account.get('/api/transactions'),
      await account.delete('/orders/limit/x'),
    ];
    expect(answers.map(({ body }) => [body.status, body.error, typeof body.message])).toEqual([
      [400, 'Bad Request', 'string'],
      [401, 'Unauthorized', 'string'],
      [403, 'Forbidden', 'string'],
      [404, 'Not Found', 'string'],
    ]);
  });
});

function fail(): never {
  throw new Error('what the test needs is not there');
}
