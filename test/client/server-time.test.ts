import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AccountClient, HttpStatusError, ServerTime, UnauthorizedError } from '../../client/index.js';
import { TradingClient } from '../../client/trading/index.js';
import { type Clock, systemClock } from '../../core/index.js';
import { json, type SeenRequest, script, serve } from './support.js';
import { apiKey, exchangeOf, failure, signatureFault } from './support-account.js';

/** Our clock, off by `ms`. */
const clockOff = (ms: number): Clock => ({
  nowMs: () => systemClock.nowMs() + ms,
  elapsedMs: () => systemClock.elapsedMs(),
  nowMicros: () => systemClock.nowMicros() + ms * 1000,
  sleep: (duration, signal) => systemClock.sleep(duration, signal),
});

const still = (nowMs: () => number): Clock => ({
  nowMs,
  elapsedMs: nowMs,
  nowMicros: () => nowMs() * 1000,
  sleep: async () => undefined,
});
const httpDate = (ms: number): string => new Date(ms).toUTCString();

const YEAR_MS = 365 * 86_400_000;

describe("the exchange's time", () => {
  it('is the local time before the first response', () => {
    const time = new ServerTime(still(() => 1_700_000_000_999));
    expect(time.offsetMs).toBeNull();
    expect(time.nowSeconds()).toBe(1_700_000_000);
  });

  it('is within the second and the duration of one response, for any skew and delays', () => {
    const skew = fc.integer({ min: -3 * YEAR_MS, max: 3 * YEAR_MS });
    const delay = fc.integer({ min: 0, max: 15_000 });
    fc.assert(
      fc.property(skew, delay, delay, fc.nat({ max: 999 }), (skewMs, there, back, phase) => {
        let now = 1_700_000_000_000 + phase;
        const time = new ServerTime(still(() => now));
        const sent = now;
        const answered = sent + there + skewMs;
        now += there + back;
        time.observe(httpDate(answered), sent, now);
        const error = Math.abs((time.offsetMs ?? Number.NaN) - skewMs);
        expect(error).toBeLessThanOrEqual((there + back + 1000) / 2);
        expect(Math.abs(time.nowSeconds() - (now + skewMs) / 1000)).toBeLessThanOrEqual(30);
      }),
    );
  });

  it('becomes more accurate with every response, and stays valid through hours of drift', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 600_000 }), fc.nat({ max: 3000 }), fc.nat({ max: 3000 })), {
      minLength: 1,
      maxLength: 40,
    });
    // 100 millionths: a bad quartz.
    const drifts = fc.integer({ min: -100, max: 100 }).map((ppm) => ppm / 1e6);
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 100_000 }), drifts, steps, (skewMs, drift, answers) => {
        let now = 1_700_000_000_000;
        const time = new ServerTime(still(() => now));
        const serverAt = (ours: number) => ours + skewMs + (ours - 1_700_000_000_000) * drift;
        for (const [pause, there, back] of answers) {
          now += pause;
          const sent = now;
          const date = httpDate(Math.floor(serverAt(sent + there)));
          now += there + back;
          time.observe(date, sent, now);
          expect(Math.abs((time.offsetMs ?? 0) - (serverAt(now) - now))).toBeLessThanOrEqual(
            (there + back + 1002) / 2 + 1,
          );
        }
      }),
    );
  });

  it('follows a clock that was set', () => {
    let now = 1_700_000_000_000;
    const time = new ServerTime(still(() => now));
    time.observe(httpDate(now), now, now + 10);
    expect(Math.abs(time.offsetMs ?? 9e9)).toBeLessThan(600);
    now -= 3_600_000;
    time.observe(httpDate(1_700_000_005_000), now, now + 10);
    expect(Math.abs((time.offsetMs ?? 0) - 3_605_000)).toBeLessThan(600);
  });

  it.each([undefined, '', 'soon', '2025-11-21T10:00:00Z', '5', 'Fri'])('learns nothing from %j', (date) => {
    const time = new ServerTime(systemClock);
    time.observe(date, 0, 10);
    expect(time.offsetMs).toBeNull();
  });
});

/** A server that rejects unsigned and late requests as the exchange does, by its own clock, which it sends in `Date`. */
async function strict(offsetMs = 0): Promise<{ base: string; seen: SeenRequest[] }> {
  return script((response, request) => {
    const now = Date.now() + offsetMs;
    const fault = signatureFault(request, now / 1000);
    const headers = { date: httpDate(now) };
    if (fault) json({ status: 401, error: 'Unauthorized', message: fault }, 401, headers)(response, request);
    else json(request.method === 'POST' ? { i: 'o1' } : [], 200, headers)(response, request);
  });
}

const limitOrder = {
  eventId: 'e',
  marketId: 'o',
  assetId: 'ba',
  quoteAssetId: 'qa',
  side: 'BUY',
  price: '0.5',
  quantity: '1',
} as const;

describe('requests signed with a wrong clock', () => {
  it.each([
    ['2 minutes fast', 120_000],
    ['31 seconds slow', -31_500],
    ['a year slow', -YEAR_MS],
  ])('%s: are refused once, and then accepted every time', async (_, offMs) => {
    const { base, seen } = await strict();
    const account = new AccountClient(exchangeOf(base, { clock: clockOff(offMs) }), { apiKey });
    for (let n = 0; n < 3; n++) expect((await account.balances()).items).toEqual([]);
    expect(seen.length).toBe(4);
    expect(seen.map((request) => signatureFault(request) === undefined)).toEqual([false, true, true, true]);
  });

  it('are not corrected needlessly: a clock within the window is accepted at once', async () => {
    const { base, seen } = await strict();
    const account = new AccountClient(exchangeOf(base, { clock: clockOff(20_000) }), { apiKey });
    await account.balances();
    await account.balances();
    expect(seen.length).toBe(2);
    const [first, second] = seen.map(({ headers }) => Number(headers['service-api-timestamp']));
    expect(Math.abs((first ?? 0) - Date.now() / 1000)).toBeGreaterThan(15);
    expect(Math.abs((second ?? 0) - Date.now() / 1000)).toBeLessThan(10);
  });

  it('place an order only once: the rejected request placed nothing', async () => {
    const { base, seen } = await strict(300_000);
    const trading = new TradingClient(exchangeOf(base), { apiKey });
    expect(await trading.placeLimitOrder(limitOrder)).toEqual({ orderId: 'o1' });
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /orders/limit', 'POST /orders/limit']);
    expect(seen[0]?.body).toBe(seen[1]?.body);
  });

  it('are not sent again when the rejection has another reason, or the response has no `Date`', async () => {
    const refused = await script(json({ status: 401, error: 'Unauthorized', message: 'no such key' }, 401));
    const account = new AccountClient(exchangeOf(refused.base), { apiKey });
    expect(await failure(account.balances())).toBeInstanceOf(UnauthorizedError);
    expect(refused.seen.length).toBe(1);
    let asked = 0;
    const silent = await serve((_request, response) => {
      asked += 1;
      response.sendDate = false;
      response.writeHead(401).end('{}');
    });
    const lost = new AccountClient(exchangeOf(silent, { clock: clockOff(-YEAR_MS) }), { apiKey });
    expect(await failure(lost.balances())).toMatchObject({ status: 401 });
    expect(asked).toBe(1);
  });

  it('are sent twice at most, also to an exchange whose clock keeps changing', async () => {
    let day = 0;
    const { base, seen } = await script((response, request) => {
      day += 1;
      json({}, 401, { date: httpDate(Date.now() + day * 86_400_000) })(response, request);
    });
    const account = new AccountClient(exchangeOf(base), { apiKey });
    expect(await failure(account.balances())).toBeInstanceOf(HttpStatusError);
    expect(seen.length).toBe(2);
  });

  it('ignore responses to requests without credentials, which may come from caches', async () => {
    const { base } = await script(json([], 200, { date: httpDate(Date.now() - 300_000) }));
    const exchange = exchangeOf(base);
    await exchange.coins();
    expect(exchange.serverTime.offsetMs).toBeNull();
  });
});

describe('requesting the time of a server', () => {
  it('uses the Date of any response, also of an error, at the address of a stream', async () => {
    const urls: string[] = [];
    const base = await serve((request, response) => {
      urls.push(request.url ?? '');
      response.writeHead(426, { date: httpDate(Date.now() + 90_000) }).end('no');
    });
    const time = new ServerTime(systemClock);
    const before = Date.now();
    await time.measure(`${base.replace('http', 'ws')}/order/ws`, 5000);
    // The header has whole seconds, and was sent at some moment in between.
    expect(Math.abs((time.offsetMs ?? 0) - 90_000)).toBeLessThan(1000 + Date.now() - before);
    expect(urls).toEqual(['/order/ws']);
  });

  it('ends with the reason of its signal', async () => {
    const base = await serve(() => undefined);
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const asking = failure(new ServerTime(systemClock).measure(base, 5000, abort.signal));
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await asking).toBe(reason);
  });
});
