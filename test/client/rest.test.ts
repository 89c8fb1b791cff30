import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpTransport } from '../../client/http.js';
import {
  type ExchangeClient,
  HttpStatusError,
  type RawResponse,
  SchemaError,
  TransportError,
} from '../../client/index.js';
import { systemClock } from '../../core/index.js';
import { ManualClock } from '../support/clocks.js';
import { until } from '../support/until.js';
import { json, script, serve } from './support.js';
import { exchangeOf, failure } from './support-account.js';

const SHORT_TIMEOUT_MS = 250;
const noEvents = { content: [], totalElements: 0, totalPages: 0 };

describe('requests of the REST operations', () => {
  it('search events with page and size in the query and the short names in the body [4.5/search 4.5/sb]', async () => {
    const { base, seen } = await script(json(noEvents));
    const client = exchangeOf(base);
    await client.searchEvents({
      sortBy: 'CHANCE',
      sortDirection: 'ASC',
      language: 'de',
      text: 'wer "gewinnt"?',
      categories: ['sports'],
      tags: ['Fußball'],
      featured: true,
      page: 2,
      size: 50,
    });
    await client.searchEvents();
    expect(seen.map(({ method, url, body }) => ({ method, url, body: JSON.parse(body) }))).toEqual([
      {
        method: 'POST',
        url: '/api/events/search?page=2&size=50',
        body: { sb: 'CHANCE', sd: 'ASC', l: 'de', ss: 'wer "gewinnt"?', c: ['sports'], t: ['Fußball'], ft: true },
      },
      { method: 'POST', url: '/api/events/search?page=0&size=20', body: {} },
    ]);
    expect(seen[0]?.headers['content-type']).toBe('application/json');
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  it('request categories, tags, coins and chance history as documented [4.5/categories 4.5/tags 4.5/history]', async () => {
    const { base, seen } = await script(json([]));
    const client = exchangeOf(base);
    await client.categories();
    await client.popularTags();
    await client.popularTags({ limit: 3 });
    await client.coins();
    await client.chanceHistory({
      eventId: 'e/1',
      marketId: 'o 1',
      period: '5M',
      from: 1_700_000_000,
      to: 1_700_000_060.5,
    });
    expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'GET /api/categories ',
      'GET /api/tags/popular ',
      'GET /api/tags/popular?limit=3 ',
      'GET /api/coins ',
      'GET /api/events/e%2F1/outcomes/o%201/history?period=5M&from=2023-11-14T22%3A13%3A20.000Z&to=2023-11-14T22%3A14%3A20.500Z ',
    ]);
  });

  it('goes to the host of each path prefix [1/routing]', async () => {
    const [event, wallet, chance] = [await script(json([])), await script(json([])), await script(json([]))];
    const client = exchangeOf(event.base, {
      addresses: { event: event.base, wallet: wallet.base, chance: chance.base },
    });
    await client.categories();
    await client.coins();
    await client.chanceHistory({ eventId: 'e', marketId: 'o', period: '1d', from: 0, to: 1 });
    expect([event, wallet, chance].map((s) => s.seen.map((r) => r.url.split('?')[0]))).toEqual([
      ['/api/categories'],
      ['/api/coins'],
      ['/api/events/e/outcomes/o/history'],
    ]);
  });

  it.each([
    [(c: ExchangeClient) => c.searchEvents({ page: -1 }), 'page is -1'],
    [(c: ExchangeClient) => c.searchEvents({ size: 0 }), 'size is 0'],
    [(c: ExchangeClient) => c.popularTags({ limit: 1.5 }), 'limit is 1.5'],
    [
      (c: ExchangeClient) => c.chanceHistory({ eventId: '..', marketId: 'o', period: '1s', from: 0, to: 1 }),
      'eventId is ".."',
    ],
    [
      (c: ExchangeClient) => c.chanceHistory({ eventId: 'e', marketId: 'o', period: '1h', from: 0, to: 1 }),
      'period is "1h"',
    ],
    [
      (c: ExchangeClient) => c.chanceHistory({ eventId: 'e', marketId: 'o', period: '90', from: Number.NaN, to: 1 }),
      'from is NaN',
    ],
  ])('refuses parameters that cannot be sent, without asking (%#)', async (ask, message) => {
    const { base, seen } = await script(json([]));
    expect(((await failure(ask(exchangeOf(base)))) as Error).message).toContain(message);
    expect(seen).toEqual([]);
  });
});

describe('responses of the REST operations', () => {
  it('returns the decoded items with the bytes, the time and the request of the raw record', async () => {
    const text = '[ {"t":10,"p":0.5},\n {"t":"x","p":0.5} ]';
    const { base } = await script((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'session=secret' });
      response.end(text);
    });
    const before = Date.now() * 1000;
    const query = { eventId: 'e', marketId: 'o', period: '1s', from: 5, to: 20 };
    const answer = await exchangeOf(base).chanceHistory(query);
    expect(answer.items).toEqual([{ time: 10, probability: 0.5 }]);
    expect(answer.invalidEntries).toMatchObject([
      { index: 1, path: '[1].t', reason: 'expected a number, got string "x"' },
    ]);
    const { response } = answer;
    expect(response.bytes.toString()).toBe(text);
    expect(response.receivedAtMicros).toBeGreaterThanOrEqual(before - 10_000);
    expect(response.receivedAtMicros).toBeLessThanOrEqual(Date.now() * 1000 + 10_000);
    expect(JSON.stringify(response.headers)).not.toContain('secret');
    expect(response.request).toEqual({
      operation: 'chance-history',
      method: 'GET',
      path: '/api/events/e/outcomes/o/history',
      query: { period: '1s', from: '1970-01-01T00:00:05.000Z', to: '1970-01-01T00:00:20.000Z' },
      status: 200,
      attempt: 0,
      event: 'e',
      market: 'o',
      period: '1s',
      from: 5,
      to: 20,
    });
  });

  it('are rejected if they are JSON but not a list, with path and reason, without a retry [1/json]', async () => {
    const { base, seen } = await script(json({ content: 'none' }));
    const error = await failure(exchangeOf(base).searchEvents());
    expect(error).toBeInstanceOf(SchemaError);
    expect(error).toMatchObject({
      retryable: false,
      path: 'content',
      message:
        'event-search POST /api/events/search: the response at content does not match the interface: expected a list, got string "none"',
    });
    expect(seen.length).toBe(1);
  });

  it('with a 404 reject with the error body, without a retry [7.1/body 7.2/404]', async () => {
    const { base, seen } = await script(json({ status: 404, error: 'Not Found', message: 'no such event' }, 404));
    const error = await failure(exchangeOf(base).categories());
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({
      status: 404,
      retryable: false,
      error: { status: 404, error: 'Not Found', message: 'no such event' },
      retryAfterMs: undefined,
    });
    expect((error as Error).message).toBe(
      `categories GET ${base}/api/categories: the exchange answered 404 (no such event); check the IDs, and that the address is that of the exchange`,
    );
    expect(seen.length).toBe(1);
  });

  it('does not follow a redirect to another place', async () => {
    const target = await script(json([]));
    const { base } = await script(json({}, 302, { location: target.base }));
    expect(await failure(exchangeOf(base).coins())).toMatchObject({ status: 302, retryable: false });
    expect(target.seen).toEqual([]);
  });

  it('retries after 500s and passes on every response as received [7.2/500]', async () => {
    const { base } = await script(
      json({ status: 500, error: 'Internal', message: 'oops' }, 500),
      (response) => response.writeHead(503).end('<html>'),
      json([{ n: 'a', r: 1 }]),
    );
    const shown: RawResponse[] = [];
    const answer = await exchangeOf(base).popularTags({}, { onResponse: (response) => shown.push(response) });
    expect(answer.items).toEqual([{ name: 'a', popularityRank: 1 }]);
    expect(shown.map((r) => [r.status, r.request.attempt, r.request.status, r.bytes.toString().slice(0, 6)])).toEqual([
      [500, 0, 500, '{"stat'],
      [503, 1, 503, '<html>'],
      [200, 2, 200, '[{"n":'],
    ]);
  });

  it('rejects with the last error after the maximum number of attempts', async () => {
    const { base, seen } = await script(json({}, 500));
    expect(await failure(exchangeOf(base, { attempts: 3 }).coins())).toMatchObject({ status: 500, retryable: true });
    expect(seen.length).toBe(3);
  });

  it('waits after a 429 at least as long as Retry-After says, and delays all requests [7.2/429]', async () => {
    const clock = new ManualClock();
    const { base, seen } = await script(json({}, 429, { 'retry-after': '1' }), json([]));
    const client = exchangeOf(base, { clock, concurrency: 1 });
    let answered = 0;
    for (const answer of [client.coins(), client.categories()]) void answer.then(() => answered++);
    await until(() => clock.sleepers === 2);
    await clock.advance(999);
    expect(seen.length).toBe(1);
    // The second waits for its turn after the first.
    await until(async () => {
      await clock.advance(1);
      return answered === 2;
    });
    expect(seen.length).toBe(3);
  });
});

describe('Retry-After', () => {
  it('is honoured after a 503 as well', async () => {
    const clock = new ManualClock();
    const { base, seen } = await script(json({}, 503, { 'retry-after': '1' }), json([]));
    const answer = exchangeOf(base, { clock }).coins();
    await until(() => clock.sleepers === 1);
    await clock.advance(999);
    expect(seen.length).toBe(1);
    await clock.advance(1);
    expect((await answer).items).toEqual([]);
    expect(seen.length).toBe(2);
  });
});

describe('missing and truncated responses', () => {
  it.each<[string, Parameters<typeof script>[0], string, string]>([
    ['a reset', (response) => response.destroy(), 'connection', 'could not be reached'],
    [
      'a body shorter than announced',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('[{"n":', () => response.destroy());
      },
      'broken-off',
      'broke off its response',
    ],
    [
      'a chunked body without its end',
      (response) => {
        response.writeHead(200);
        response.write('[]', () => response.destroy());
      },
      'broken-off',
      'broke off its response',
    ],
    [
      'a body cut in well-formed HTTP',
      (response) => response.end('[{"n":"a"'),
      'not-json',
      'sent a response that is not JSON',
    ],
    [
      'a body that is not UTF-8',
      (response) => response.end(Buffer.from([0x5b, 0xff, 0x5d])),
      'not-json',
      'sent a response that is not JSON',
    ],
    ['no answer', () => undefined, 'timeout', 'did not respond in time'],
    [
      'half an answer and then silence',
      (response) => {
        response.writeHead(200);
        response.write('[');
      },
      'timeout',
      'did not respond in time',
    ],
  ])('tries again after %s, and says so in the end', async (_, step, fault, message) => {
    const { base, seen } = await script(step, step, json([]));
    // Long where no answer is late: it would be another fault.
    const timeoutMs = fault === 'timeout' ? SHORT_TIMEOUT_MS : 20_000;
    const recovered = await exchangeOf(base, { timeoutMs }).coins();
    expect(recovered.items).toEqual([]);
    // On a busy machine the valid response may be late, too.
    if (fault === 'timeout') expect(seen.length).toBeGreaterThanOrEqual(3);
    else expect(seen.length).toBe(3);
    const other = await script(step);
    const error = await failure(exchangeOf(other.base, { timeoutMs, attempts: 2 }).coins());
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: fault, retryable: true });
    expect((error as Error).message).toContain(`coins GET ${other.base}/api/coins: the exchange ${message}`);
  });

  it('report that an exchange that is not running could not be reached', async () => {
    const base = await serve(() => undefined);
    const port = new URL(base).port;
    const error = await failure(exchangeOf(`http://127.0.0.2:${port}`, { attempts: 1 }).coins());
    expect(error).toMatchObject({ code: 'connection', retryable: true });
    expect((error as Error).message).toMatch(/check its address and that it runs \(.*ECONNREFUSED/);
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    [
      'broken-off',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('[{"n":', () => response.destroy());
      },
      '[{"n":',
    ],
    [
      'broken-off',
      (response) => {
        response.writeHead(206, { 'content-length': '100' });
        response.flushHeaders();
        setImmediate(() => response.destroy());
      },
      '',
    ],
    [
      'timeout',
      (response) => {
        response.writeHead(200);
        response.write('[1');
      },
      '[1',
    ],
    ['too-large', (response) => response.end(`[${'1,'.repeat(3000)}1]`), `[${'1,'.repeat(2500)}`.slice(0, 5000)],
  ])('are passed on with the cause: %s', async (cut, step, came) => {
    const { base } = await script(step, json([]));
    const shown: RawResponse[] = [];
    const client = exchangeOf(base, { timeoutMs: cut === 'timeout' ? 1000 : 20_000, maxBodyBytes: 5000 });
    await client.coins({ onResponse: (response) => shown.push(response) }).catch(() => undefined);
    const [first, second] = shown;
    expect([first?.truncated, first?.request.cut, first?.bytes.toString()]).toEqual([cut, cut, came]);
    expect([first?.request.attempt, first?.request.status]).toEqual([0, first?.status]);
    expect(second?.truncated).toBeUndefined();
    expect(shown.length).toBe(cut === 'too-large' ? 1 : 2);
  });

  it.each([
    ['announced', { 'content-length': '5000' }],
    ['chunked', {}],
  ])('refuses a body over the limit (%s), without asking again', async (_, headers) => {
    const { base, seen } = await script((response) => {
      response.writeHead(200, headers as Record<string, string>);
      response.end(' '.repeat(5000));
    });
    const client = exchangeOf(base, { maxBodyBytes: 4999 });
    const error = await failure(client.coins());
    expect(error).toMatchObject({ code: 'too-large', retryable: false });
    expect((error as Error).message).toContain('over 4999 bytes');
    expect(seen.length).toBe(1);
  });

  it('rejects a body that would take too long to parse, without a retry, and passes it on as received', async () => {
    const body = `[${'{},'.repeat(4_000_000)}{}]`;
    const { base, seen } = await script((response) => response.end(body));
    const answers: RawResponse[] = [];
    const error = await failure(exchangeOf(base).coins({ onResponse: (answer) => answers.push(answer) }));
    expect(error).toMatchObject({ code: 'too-large', retryable: false });
    expect((error as Error).message).toContain('it holds more than 320000 brackets, colons and commas');
    expect([seen.length, answers.length, answers[0]?.bytes.length]).toEqual([1, 1, body.length]);
  });

  it('report the status of an error whose body would take too long to parse', async () => {
    const { base } = await script((response) => {
      response.writeHead(400);
      response.end(`{"message":"no","x":[${'{},'.repeat(1_000_000)}{}]}`);
    });
    const error = await failure(exchangeOf(base).coins());
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({ status: 400 });
  });
});

describe('ending calls', () => {
  it('ends with the reason of the signal while it waits for an answer, for another try and for its turn', async () => {
    const { base } = await script((response, request) => {
      if (request.url === '/api/coins') json({}, 500)(response, request);
    });
    const client = exchangeOf(base, { retryBaseMs: 60_000, retryCapMs: 60_000, concurrency: 1, random: () => 1 });
    const abort = new AbortController();
    const { signal } = abort;
    const retrying = failure(
      client.coins({ signal, onResponse: () => setImmediate(() => abort.abort(new Error('enough'))) }),
    );
    const answering = failure(client.categories({ signal }));
    const waiting = failure(client.popularTags({}, { signal }));
    const before = performance.now();
    for (const ended of await Promise.all([retrying, answering, waiting]))
      expect((ended as Error).message).toBe('enough');
    // Without the signal, the retry would begin after a minute.
    expect(performance.now() - before).toBeLessThan(30_000);
    expect(((await failure(client.coins({ signal }))) as Error).message).toBe('enough');
  });

  it('ends a single request with the reason of the signal', async () => {
    const { base, seen } = await script(() => undefined);
    const transport = new HttpTransport({ timeoutMs: 5000, maxBodyBytes: 10, connections: 1, clock: systemClock });
    onTestFinished(() => transport.close());
    const abort = new AbortController();
    const pending = failure(transport.send({ what: 'x', method: 'GET', origin: base, target: '/' }, abort.signal));
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await pending).toBe(reason);
  });

  it('aborts pending requests when the client is closed, also twice', async () => {
    const { base, seen } = await script(() => undefined);
    const client = exchangeOf(base, { attempts: 1 });
    const pending = failure(client.coins());
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([client.close(), client.close()]);
    expect(await pending).toMatchObject({ code: 'connection' });
    expect(await failure(client.coins())).toMatchObject({ code: 'connection' });
  });
});
