import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startTestExchange } from '../support/exchange.js';
import { authMessage, Book, openAccount } from './server-accounts.js';

const RUNS = { numRuns: 150, seed: 4 };
const json = fc.jsonValue({ maxDepth: 2 });
/** Created before the server: it keeps the process busy for a second, possibly longer than the idle timeout of connections. */
const text = fc.string({ unit: 'binary' });

/** A path as sent by `fetch`: the signed path must be the same. */
const asSent = (path: string): string => new URL(`http://x${path}`).pathname;

/** Occasionally an arbitrary value, otherwise the valid one. */
const bent = (good: Record<string, unknown>) =>
  fc.record(
    Object.fromEntries(
      Object.entries(good).map(([field, value]) => [
        field,
        fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, fc.oneof(json, fc.double(), text)),
      ]),
    ),
    { requiredKeys: [] },
  );

async function setup() {
  const server = await startTestExchange({ events: 0 });
  const [ann, bob] = [await openAccount(server), await openAccount(server)];
  const book = await Book.open(server);
  await book.mint(ann, bob, 0.5, 100);
  const failures = async () => (await server.server.metrics.failures.get()).values[0]?.value ?? 0;
  return { server, ann, bob, book, failures };
}

describe('any value', () => {
  it('in a body is answered with 200, 400 or 404, and the ledger stays balanced', async () => {
    const { server, ann, book, failures } = await setup();
    const target = book.target('YES');
    const bodies = fc.oneof(
      bent({ ...target, s: 'BUY', p: 0.3, q: 1 }).map((body) => ['/orders/limit', body] as const),
      bent({ ...target, s: 'BUY', am: 1 }).map((body) => ['/orders/market', body] as const),
      bent({ ...target, s: 'SELL', q: 1 }).map((body) => ['/orders/market', body] as const),
      bent({ ...target, i: 'YES', s: 'SELL', q: 1, t: 0.9, l: 0.1, oa: null }).map(
        (body) => ['/orders/tpsl', body] as const,
      ),
      json.map((body) => ['/orders/limit', body] as const),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async ([path, body]) => {
        const { status } = await ann.post(path, JSON.stringify(body) ?? '');
        expect([200, 400, 404]).toContain(status);
      }),
      RUNS,
    );
    expect(server.core.truth().identity.balanced).toBe(true);
    expect(await failures()).toBe(0);
  });

  it('in a path or query is answered with 200, 400 or 404', async () => {
    const { ann, book, failures } = await setup();
    const value = fc.oneof(text, fc.constantFrom('0', '5', book.market.yes, book.market.marketId));
    const segment = value.map(encodeURIComponent);
    const names = fc.constantFrom('page', 'size', 'sort', 'eventOutcomeId', 'assetId', 'primary', 'status', 'tab');
    const query = fc
      .array(fc.tuple(names, segment), { maxLength: 4 })
      .map((all) => all.map((pair) => pair.join('=')).join('&'));
    const paths = fc.oneof(
      fc.constantFrom('/orders/tpsl', '/api/history/orders', '/api/history/trades', '/api/history/activity'),
      fc.constantFrom('/api/history/deals/open-positions', '/api/history/deals/active-orders', '/api/user-balances'),
      segment.map((id) => `/api/history/stats/profile/${id}`),
      segment.map((id) => `/api/history/stats/profile/${id}/positions`),
    );
    await fc.assert(
      fc.asyncProperty(paths, query, async (path, search) => {
        const { status } = await ann.get(`${asSent(path)}?${search}`);
        expect([200, 400, 404]).toContain(status);
      }),
      RUNS,
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('limit', 'tpsl'), segment, async (kind, id) => {
        expect((await ann.delete(asSent(`/orders/${kind}/${id}`))).status).toBe(404);
      }),
      RUNS,
    );
    expect(await failures()).toBe(0);
  });

  it('on a private stream before AUTH is answered with an error, and AUTH still works after it', async () => {
    const { server, ann, failures } = await setup();
    for (const path of ['/order/ws', '/balance/ws'] as const) {
      const socket = await server.connect(path);
      const messages = fc.oneof(
        json.map((value) => JSON.stringify(value)),
        bent({ t: 'AUTH', d: { apiKey: 'x', signature: 'x', timestamp: 'x' } }).map((value) => JSON.stringify(value)),
        bent({ apiKey: ann.key.key, signature: 'x', timestamp: '1' }).map((d) => JSON.stringify({ t: 'AUTH', d })),
        text,
      );
      await fc.assert(
        fc.asyncProperty(messages, async (message) => {
          expect(await socket.ask(message)).toEqual({ t: 'error', d: { error: expect.any(String) } });
        }),
        RUNS,
      );
      expect((await socket.ask(authMessage(ann.key, path))).t).toBe('success');
    }
    expect(await failures()).toBe(0);
  });
});
