import { randomBytes, randomUUID } from 'node:crypto';
import { ApiKey, decodeTrades, type LosslessJson, parseLossless, Secret } from '../client/index.js';
import type { BenchFigure } from './bench.js';

const PAGE = 100;

/** The account client: signing a request, and decoding a page of 100 trades with exact numbers. */
export async function benchClientAccount(quick: boolean): Promise<BenchFigure[]> {
  const key = new ApiKey('pk_bench', new Secret(randomBytes(32).toString('base64url')));
  const body = JSON.stringify({
    e: randomUUID(),
    o: randomUUID(),
    ba: randomUUID(),
    qa: randomUUID(),
    s: 'BUY',
    p: 0.5,
  });
  const pages = Array.from({ length: 20 }, pageText);
  const parsed = pages.map(parseLossless);
  const rounds = quick ? 2 : 100;
  return [
    rate('requests signed', 'requests/s', quick ? 1000 : 200_000, 1, (n) => {
      key.headers({ method: 'POST', path: '/orders/limit', body }, 1_763_690_000 + n);
    }),
    rate('trades parsed, exact', 'trades/s', rounds * pages.length, PAGE, (n) => {
      parseLossless(pages[n % pages.length] ?? '');
    }),
    rate('trades decoded', 'trades/s', rounds * pages.length, PAGE, (n) => {
      decode(parsed[n % pages.length] ?? parseLossless('[]'));
    }),
    rate('trades parsed and decoded', 'trades/s', rounds * pages.length, PAGE, (n) => {
      decode(parseLossless(pages[n % pages.length] ?? ''));
    }),
  ];
}

function decode(page: LosslessJson): void {
  const decoded = decodeTrades(page);
  if (!decoded.ok || decoded.items.length !== PAGE)
    throw new Error('the decoded page is not the one that was generated');
}

function rate(name: string, unit: string, times: number, each: number, work: (n: number) => void): BenchFigure {
  const start = performance.now();
  for (let n = 0; n < times; n++) work(n);
  return { name, unit, value: Math.round((times * each * 1000) / (performance.now() - start)) };
}

function pageText(): string {
  const trade = (n: number) => ({
    i: randomUUID(),
    t: randomUUID(),
    u: randomUUID(),
    or: randomUUID(),
    s: 'BUY',
    e: randomUUID(),
    o: randomUUID(),
    a: randomUUID(),
    q: 10.01 + n,
    p: 0.01 * (1 + (n % 99)),
    f: 0.000139,
    m: '2025-11-21T10:00:00.123Z',
  });
  return JSON.stringify({ i: Array.from({ length: PAGE }, (_, n) => trade(n)), p: 0, s: PAGE, tp: 1 });
}
