import { Pool } from 'undici';
import { ApiKey } from '../client/index.js';
import { Secret } from '../core/index.js';
import type { ReadyLine } from '../exchange/index.js';
import { ServiceProcess } from '../test/support/service-process.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import type { BenchFigure } from './bench.js';

export const ORDERS = 20_000;
export const CONNECTIONS = 32;
export const ACCOUNTS = 8;
const QUICK_ORDERS = 1000;

/**
 * Signed limit orders over HTTP, from this process to `chancery exchange --data` in another one, which writes each order to
 * its journal and flushes it to disk before the response. Afterwards the orders in the exchange's history are counted.
 */
export async function benchExchangeOrders(quick: boolean): Promise<BenchFigure[]> {
  const orders = quick ? QUICK_ORDERS : ORDERS;
  const folder = temporaryFolder();
  const flags = ['--port', '0', '--bots', '0', '--accounts', String(ACCOUNTS), '--data', folder];
  const exchange = await ServiceProcess.start<ReadyLine>('exchange', flags);
  try {
    return await measure(exchange.ready, orders);
  } finally {
    await exchange.stop();
    removeFolder(folder);
  }
}

async function measure({ url, control, accounts }: ReadyLine, orders: number): Promise<BenchFigure[]> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  try {
    for (const { userId } of accounts) {
      const headers = { 'X-Control-Token': control.token };
      const body = JSON.stringify({ userId, amount: 1_000_000 });
      await answered(pool, 'POST', '/_control/deposits', headers, body);
    }
    const keys = accounts.map(({ apiKey, apiSecret }) => new ApiKey(apiKey, new Secret(apiSecret)));
    const bodies = await orderBodies(pool);
    await place(pool, keys, bodies, orders / 10);
    const before = await placedSoFar(pool, keys);
    const started = performance.now();
    const latencies = await place(pool, keys, bodies, orders);
    const perSecond = Math.round(orders / ((performance.now() - started) / 1000));
    const recorded = (await placedSoFar(pool, keys)) - before;
    if (recorded !== orders) throw new Error(`${orders} orders were accepted, the exchange has ${recorded}`);
    return [
      { name: 'signed orders accepted over HTTP, with a data folder', value: perSecond, unit: 'orders/s' },
      { name: 'response time, p50', value: at(latencies, 0.5), unit: 'ms' },
      { name: 'response time, p99', value: at(latencies, 0.99), unit: 'ms' },
    ];
  } finally {
    await pool.close();
  }
}

/** Sends the orders over all connections, one at a time on each. Returns the sorted response times, ms. */
async function place(pool: Pool, keys: readonly ApiKey[], bodies: readonly string[], orders: number) {
  const latencies: number[] = [];
  let next = 0;
  const one = async () => {
    while (next < orders) {
      const n = next++;
      const sent = performance.now();
      await signed(pool, 'POST', '/orders/limit', keys[n % keys.length], bodies[n % bodies.length]);
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return latencies.sort((a, b) => a - b);
}

/** Bids for YES and NO around the mid price of every market: some trade, most rest in the book. */
async function orderBodies(pool: Pool): Promise<string[]> {
  const coins = (await answered(pool, 'GET', '/api/coins')) as { i: string; sn: string }[];
  const qa = coins.find(({ sn }) => sn === 'USDC')?.i;
  const path = '/api/events/search?size=100';
  const { content } = (await answered(pool, 'POST', path)) as {
    content: { id: string; outcomes: { marketId: string; yesId: string; noId: string }[] }[];
  };
  const markets = content.flatMap(({ id, outcomes }) => outcomes.map((outcome) => ({ e: id, ...outcome })));
  return Array.from({ length: 997 }, (_, n) => {
    const market = markets[n % markets.length];
    const ba = n % 2 === 0 ? market?.yesId : market?.noId;
    const p = (30 + ((n * 7) % 25)) / 100;
    return JSON.stringify({ e: market?.e, o: market?.marketId, ba, qa, s: 'BUY', p, q: 1 + (n % 10) });
  });
}

/** Number of orders in the histories of all accounts. */
async function placedSoFar(pool: Pool, keys: readonly ApiKey[]): Promise<number> {
  const pages = keys.map((key) => signed(pool, 'GET', '/api/history/orders', key, undefined, '?size=1'));
  return (await Promise.all(pages)).reduce<number>((sum, page) => sum + (page as { tp: number }).tp, 0);
}

async function signed(
  pool: Pool,
  method: 'GET' | 'POST',
  path: string,
  key: ApiKey | undefined,
  body = '',
  query = '',
): Promise<unknown> {
  if (!key) throw new Error('there is no account to sign with');
  const headers = key.headers({ method, path, body }, Math.floor(Date.now() / 1000));
  return answered(pool, method, path + query, headers, body);
}

async function answered(
  pool: Pool,
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<unknown> {
  const answer = await pool.request({ method, path, headers, ...(body === '' ? {} : { body }) });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}

const at = (sorted: readonly number[], part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
