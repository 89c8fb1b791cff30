import { describe, expect, it } from 'vitest';
import { startTestExchange, type TestExchange } from '../support/exchange.js';
import type { Answer } from '../support/exchange-connection.js';
import { type Account, authMessage, Book, openAccount, statusOf } from './server-accounts.js';

/** JSON texts of a wrong type. */
const WRONG_TYPES = {
  text: ['null', 'true', '7', '{}', '[]', '["a"]'],
  number: ['null', 'true', '"0.5"', '"☂"', '{}', '[]', '[0.5]'],
  flag: ['null', '7', '"true"', '{}', '[]'],
  texts: ['null', 'true', '7', '"a"', '{}', '[7]', '[null]'],
} as const;
const UNICODE = ['"☂\\u0000\\u202e"', '"\\ud800"', '"Ａ"', '"ñ̈"'];
const NUMBERS_TOO_LARGE = ['1e400', '-1e400', '1e300', '9'.repeat(400), `0.${'1'.repeat(400)}`];

interface Field {
  readonly type: keyof typeof WRONG_TYPES;
  readonly optional?: boolean;
  /** Expected status of a request without it; default 400, or 200 when it is optional. */
  readonly missing?: number;
  /** JSON texts of the right type with an invalid value. */
  readonly out?: readonly string[];
  /** Expected status for an unknown ID; default 400. */
  readonly unknown?: number;
  readonly nullable?: boolean;
}
type Fields = Readonly<Record<string, Field>>;

interface Operation {
  readonly name: string;
  readonly fields: Fields;
  /** A valid body, as JSON texts by field. Created for each use, since a code is valid once. */
  readonly good: () => Promise<Record<string, string>> | Record<string, string>;
  readonly send: (body: string) => Promise<Answer>;
}

const bodyOf = (fields: Record<string, string>, ...more: string[]): string =>
  `{${[...Object.entries(fields).map(([name, value]) => `"${name}":${value}`), ...more].join(',')}}`;

const text: Field = { type: 'text' };
const price: Field = { type: 'number', out: ['0', '-0.5', '0.009', '0.995', '1', '0.505', '99'] };
const amount: Field = { type: 'number', out: ['0', '-1', '0.0000001', '1e-9', '1e15'] };
const quantity: Field = { type: 'number', out: ['0', '-1', '0.001', '1e-9', '1e15'] };

async function setup() {
  const server = await startTestExchange({ events: 2 });
  const [ann, bob] = [await openAccount(server, { usdc: 100_000 }), await openAccount(server, { usdc: 100_000 })];
  const book = await Book.open(server);
  await book.mint(ann, bob, 0.5, 1000);
  // A counterparty at any price.
  await book.limit(bob, 'BUY', 'YES', 0.1, 1000);
  await book.limit(bob, 'BUY', 'NO', 0.1, 1000);
  const failures = async () => (await server.server.metrics.failures.get()).values[0]?.value ?? 0;
  return { server, ann, book, failures };
}

function orderOperations(ann: Account, book: Book): Operation[] {
  const raw = (fields: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)]));
  const target = { e: { ...text, unknown: 404 }, o: { ...text, unknown: 404 }, ba: text, qa: text };
  const place = (name: string, path: string, fields: Fields, good: Record<string, unknown>): Operation => ({
    name,
    fields: { ...target, ...fields },
    good: () => raw({ ...book.target('YES'), ...good }),
    send: (body) => ann.post(path, body),
  });
  const optionalPrice = { ...price, optional: true, nullable: true };
  return [
    place('limit order', '/orders/limit', { s: text, p: price, q: quantity }, { s: 'BUY', p: 0.2, q: 1 }),
    place('market BUY', '/orders/market', { s: text, am: amount }, { s: 'BUY', am: 1 }),
    place('market SELL', '/orders/market', { s: text, q: quantity }, { s: 'SELL', q: 1 }),
    place(
      'TP/SL order',
      '/orders/tpsl',
      {
        s: text,
        i: text,
        q: quantity,
        t: optionalPrice,
        l: optionalPrice,
        oa: { ...text, optional: true, nullable: true },
      },
      { s: 'SELL', i: 'YES', q: 1, t: 0.9, l: 0.02, oa: book.market.yes },
    ),
  ];
}

async function otherOperations(server: TestExchange, ann: Account): Promise<Operation[]> {
  const carol = await openAccount(server, { otp: true });
  const token = await carol.login();
  const quoted = JSON.stringify;
  const optional = (type: Field['type'], more: Partial<Field> = {}): Field => ({ type, optional: true, ...more });
  return [
    {
      name: 'login',
      fields: { email: { ...text, unknown: 401 }, password: { ...text, unknown: 401, out: ['""'] } },
      good: () => ({ email: quoted(ann.email), password: quoted(ann.password) }),
      send: (body) => server.request('POST', '/auth/login', { body }),
    },
    {
      name: 'login with a second factor',
      fields: { otp: { ...text, nullable: true, missing: 401, unknown: 401, out: ['""'] } },
      good: () => ({ email: quoted(carol.email), password: quoted(carol.password), otp: quoted(carol.otp) }),
      send: (body) => server.request('POST', '/auth/login', { body }),
    },
    {
      name: 'key',
      fields: {
        code: { ...text, out: ['""'] },
        expiresAt: optional('text', { nullable: true, out: ['""', '"2020-01-01T00:00:00Z"', '"2999-02-30"'] }),
      },
      good: async () => ({
        code: quoted(await carol.code(token)),
        otp: quoted(carol.otp),
        expiresAt: '"2999-01-01T00:00:00Z"',
      }),
      send: (body) => carol.bearer('POST', '/auth/api-key', body, token),
    },
    {
      name: 'event search',
      fields: {
        sb: optional('text', { out: ['"newest"', '""'] }),
        sd: optional('text', { out: ['"asc"'] }),
        l: optional('text', { out: ['"xx"'] }),
        ss: optional('text', { unknown: 200 }),
        c: optional('texts'),
        t: optional('texts'),
        ft: optional('flag'),
      },
      good: () => ({ sb: '"NEWEST"', sd: '"ASC"', l: '"en"', ss: '""', c: '[]', t: '[]', ft: 'false' }),
      send: (body) => server.request('POST', '/api/events/search', { body }),
    },
  ];
}

type Body = (good: Record<string, string>) => string;

/** Every invalid value of one field of an operation, and the expected status. */
function badBodies(name: string, field: Field): [why: string, body: Body, status: number][] {
  const { type, nullable = false, out = [], unknown = type === 'texts' ? 200 : 400 } = field;
  const missing = field.missing ?? (field.optional ? 200 : 400);
  const isText = type === 'text' || type === 'texts';
  const asType = (json: string) => (type === 'texts' ? `[${json}]` : json);
  const wrong = WRONG_TYPES[type].filter((json) => !(nullable && json === 'null'));
  const tooLarge = isText ? [asType(`"${'x'.repeat(70_000)}"`)] : type === 'number' ? NUMBERS_TOO_LARGE : [];
  const unknowns = isText ? [...UNICODE, '"nobody"', `"${'y'.repeat(60_000)}"`].map(asType) : [];
  const changed = (why: string, json: string, status: number): [string, Body, number] => [
    `${why}: ${json.slice(0, 20)}`,
    (good) => bodyOf({ ...good, [name]: json }),
    status,
  ];
  return [
    ['missing', ({ [name]: _, ...others }) => bodyOf(others), missing],
    ...wrong.map((json) => changed('of a wrong type', json, 400)),
    ...out.map((json) => changed('out of range', json, 400)),
    ...unknowns.map((json) => changed('unknown', json, unknown)),
    ...tooLarge.map((json) => changed('too large', json, 400)),
    ['twice, the last one wrong', (good) => bodyOf(good, `"${name}":${wrong[0]}`), 400],
    ['twice, the last one good', (good) => `{"${name}":${wrong[0]},${bodyOf(good).slice(1)}`, 200],
  ];
}

describe('every field of every request', () => {
  it('of a body gets the expected status when it is missing, of a wrong type, out of range, unknown, too large, odd or repeated', async () => {
    const { server, ann, book, failures } = await setup();
    for (const operation of [...orderOperations(ann, book), ...(await otherOperations(server, ann))]) {
      const { name, fields, good, send } = operation;
      for (const [field, rules] of Object.entries(fields)) {
        for (const [why, body, status] of badBodies(field, rules)) {
          const answer = await send(body(await good()));
          expect([name, field, why, answer.status]).toEqual([name, field, why, status]);
          if (status !== 200) statusOf(answer);
        }
      }
      expect([name, (await send(bodyOf(await good()))).status]).toEqual([name, 200]);
    }
    expect(server.core.truth().identity.balanced).toBe(true);
    expect(await failures()).toBe(0);
  });

  it('of a query gets the expected status', async () => {
    const { server, ann, book, failures } = await setup();
    const { marketId, eventId, yes } = book.market;
    const token = await ann.login();
    const numbers = ['', '-1', '1.5', 'x', '0x1', '1e1', ' 1', '☂', '9'.repeat(400)];
    const page = { page: numbers, size: [...numbers, '0'] };
    const range = { period: '1H', from: '2025-01-01', to: '2025-01-02' };
    const times = ['', 'x', '☂', '2025-02-30', '2025-01-01T25:00', '1763690000', '9'.repeat(400)];
    const history = `/api/events/${eventId}/outcomes/${marketId}/history`;
    const byKey = (path: string) => (query: string) => ann.get(`${path}?${query}`);
    const operations: [string, (query: string) => Promise<Answer>, Record<string, string>, Record<string, string[]>][] =
      [
        ['search', (q) => server.request('POST', `/api/events/search?${q}`), {}, page],
        ['tags', (q) => server.get(`/api/tags/popular?${q}`), {}, { limit: [...numbers, '0', '101'] }],
        [
          'chance',
          (q) => server.get(`${history}?${q}`),
          range,
          { period: ['', '1h', '0', '-5', '5S', '☂', '1'.repeat(400)], from: times, to: times },
        ],
        ['transactions', (q) => ann.bearer('GET', `/api/transactions?${q}`, undefined, token), {}, page],
        ['orders', byKey('/api/history/orders'), {}, { ...page, sort: ['', 'ASC', 'up', '☂'], eventOutcomeId: [''] }],
        ['trades', byKey('/api/history/trades'), {}, { ...page, eventOutcomeId: [''] }],
        ['activity', byKey('/api/history/activity'), {}, page],
        ['positions', byKey('/api/history/deals/open-positions'), {}, page],
        ['active', byKey('/api/history/deals/active-orders'), {}, page],
        ['position stats', byKey(`/api/history/stats/profile/${ann.userId}/positions`), {}, { tab: ['', 'open', '☂'] }],
        [
          'TP/SL',
          byKey('/orders/tpsl'),
          { assetId: yes },
          {
            assetId: ['', 'x', '☂', eventId, 'z'.repeat(400)],
            primary: ['', 'TRUE', '1'],
            status: ['', 'active', 'x'],
          },
        ],
      ];
    const queryOf = (fields: [string, string][]) => new URLSearchParams(fields).toString();
    for (const [name, send, good, bad] of operations) {
      const required = Object.entries(good);
      for (const [field] of required) {
        const missing = await send(queryOf(required.filter(([other]) => other !== field)));
        expect([name, field, statusOf(missing)]).toEqual([name, field, 400]);
      }
      for (const [field, values] of Object.entries(bad)) {
        for (const value of values) {
          const others = required.filter(([other]) => other !== field);
          expect([name, field, value, statusOf(await send(queryOf([...others, [field, value]])))]).toEqual([
            name,
            field,
            value,
            400,
          ]);
        }
      }
      expect([name, 'good', (await send(queryOf(required))).status]).toEqual([name, 'good', 200]);
    }
    // Of a repeated name the first value counts.
    expect((await ann.get('/api/history/orders?page=0&page=x&sort=asc&sort=up')).status).toBe(200);
    expect(statusOf(await ann.get('/api/history/orders?page=x&page=0'))).toBe(400);
    expect(await failures()).toBe(0);
  });

  it('of a message on a stream gets the expected response, and the connection stays open', async () => {
    const { server, ann, book, failures } = await setup();
    const { marketId, eventId } = book.market;
    const history = { t: 'HISTORY', e: eventId, o: [marketId], d: { f: '2025-01-01', t: '2025-01-02', p: '1H' } };
    const messages: [path: string, good: Record<string, unknown>, fields: Fields][] = [
      ...['SUBSCRIBE', 'UNSUBSCRIBE', 'REQUEST_DATA'].map((t): [string, Record<string, unknown>, Fields] => [
        '/event/ws',
        { t, e: eventId },
        { t: text, e: text },
      ]),
      ['/ws', { t: 'SUBSCRIBE', e: eventId, o: [marketId] }, { t: text, e: text, o: { type: 'texts', out: ['[]'] } }],
      ['/ws', history, { t: text, e: text, o: { type: 'texts', out: ['[]', '[""]'] } }],
      ['/order/ws', authMessage(ann.key, '/order/ws'), { t: text }],
      ['/balance/ws', authMessage(ann.key, '/balance/ws'), { t: text }],
    ];
    // The fields of `d`, each on its own.
    const inner: [path: string, good: Record<string, unknown>, fields: Fields][] = [
      [
        '/ws',
        history,
        {
          f: { ...text, out: ['""', '"2025-02-30"', '"2025-01-03"'] },
          t: { ...text, out: ['""', '"2024-01-01"'] },
          p: { type: 'text', optional: true, nullable: true, out: ['""', '"1h"', '"0"', '"-1"'] },
        },
      ],
      ...(['/order/ws', '/balance/ws'] as const).map((path): [string, Record<string, unknown>, Fields] => [
        path,
        authMessage(ann.key, path),
        {
          apiKey: text,
          signature: text,
          timestamp: { ...text, out: ['""', '"0"', '"-1"', '"1e9"', '"99999999999999"'] },
        },
      ]),
    ];
    const asTexts = (value: object): Record<string, string> =>
      Object.fromEntries(Object.entries(value).map(([name, part]) => [name, JSON.stringify(part)]));
    const check = async (path: string, field: string, rules: Field, make: (body: Body) => string) => {
      const socket = await server.connect(path);
      for (const [why, body, status] of badBodies(field, rules)) {
        if (status === 200 && !why.startsWith('unknown')) continue;
        const answer = await socket.ask(make(body));
        expect([path, field, why, typeof (answer.r ?? answer.d?.error)]).toEqual([path, field, why, 'string']);
      }
      socket.ws.close();
    };
    for (const [path, good, fields] of messages) {
      for (const [field, rules] of Object.entries(fields)) {
        await check(path, field, rules, (body) => body(asTexts(good)));
      }
    }
    for (const [path, good, fields] of inner) {
      for (const [field, rules] of Object.entries(fields)) {
        await check(path, field, rules, (body) => bodyOf({ ...asTexts(good), d: body(asTexts(good['d'] as object)) }));
      }
    }
    expect(await failures()).toBe(0);
  });
});
