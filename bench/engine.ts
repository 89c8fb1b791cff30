import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Random, systemClock } from '../core/index.js';
import { Engine, type LimitRequest, MICROS } from '../exchange/engine/index.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary-folder.js';
import type { BenchFigure } from './bench.js';

const ORDERS = 200_000;
const QUICK_ORDERS = 10_000;
const MARKETS = 40;
const ACCOUNTS = 24;

/**
 * Limit orders that the engine accepts in-process, one caller: in memory, and with a data folder (each order is written to
 * the journal before it is accepted, flushed to disk at the end); then the rate of their replay at start after a kill.
 */
export async function benchEngine(quick: boolean): Promise<BenchFigure[]> {
  const orders = quick ? QUICK_ORDERS : ORDERS;
  const folder = temporaryFolder();
  try {
    const inMemory = await place(orders, undefined);
    const journalled = await place(orders, join(folder, 'data'));
    return [
      { name: 'limit orders accepted, in memory', value: inMemory.accepted, unit: 'orders/s' },
      { name: 'limit orders accepted, with a data folder', value: journalled.accepted, unit: 'orders/s' },
      { name: 'orders replayed at start after a kill', value: journalled.recovered, unit: 'orders/s' },
    ];
  } finally {
    removeFolder(folder);
  }
}

async function place(orders: number, dataDir: string | undefined): Promise<{ accepted: number; recovered: number }> {
  const engine = newEngine(dataDir);
  await engine.start(new AbortController().signal);
  try {
    const next = requests(engine);
    for (let i = 0; i < orders / 10; i++) engine.placeLimit(next());
    let accepted = 0;
    const started = performance.now();
    while (accepted < orders) if (engine.placeLimit(next()).ok) accepted += 1;
    await engine.durable();
    const perSecond = rate(orders, started);
    return { accepted: perSecond, recovered: dataDir === undefined ? 0 : await recover(orders * 1.1, dataDir) };
  } finally {
    await engine.stop();
  }
}

/** Starts on a copy of the open folder, which has the state after a kill. */
async function recover(orders: number, dataDir: string): Promise<number> {
  const copy = `${dataDir}-copy`;
  cpSync(dataDir, copy, { recursive: true, filter: (name) => !name.endsWith('.lock') });
  const engine = newEngine(copy);
  const started = performance.now();
  await engine.start(new AbortController().signal);
  const perSecond = rate(orders, started);
  await engine.stop();
  return perSecond;
}

function rate(count: number, started: number): number {
  return Math.round(count / ((performance.now() - started) / 1000));
}

function newEngine(dataDir: string | undefined): Engine {
  const options = { seed: 1, events: 0, bots: ACCOUNTS, pace: 0, accounts: 0, takerFeeBps: 20, clock: systemClock };
  return new Engine({ ...options, ...(dataDir === undefined ? {} : { dataDir }) });
}

/** Bids for YES and NO around a mid price, in many markets and by many accounts: most rest in the book, some trade. */
function requests(engine: Engine): () => LimitRequest {
  const random = new Random(7, 'engine-bench');
  const markets = Array.from({ length: MARKETS }, (_, i) => {
    const only = [{ name: 'Yes', chance: 0.5 }];
    const opened = engine.openEvent({ title: `Bench ${i}`, category: 'economy', tags: [], markets: only });
    if (!opened.ok) throw new Error(opened.rejection.message);
    return opened.value.markets;
  }).flat();
  const users = engine.botAccounts().map((account) => account.userId);
  for (const user of users) engine.deposit(user, 10_000_000 * MICROS);
  return () => {
    const market = random.pick(markets);
    const bid = random.next() < 0.5;
    const price = 50 + (bid ? -1 : 1) * random.integer(-1, 20);
    const { eventId, marketId, yesAssetId, noAssetId } = market;
    const target = { userId: random.pick(users), eventId, marketId, assetId: bid ? yesAssetId : noAssetId };
    return { ...target, side: 'BUY', price: bid ? price : 100 - price, quantity: random.integer(100, 2000) };
  };
}
