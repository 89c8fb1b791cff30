import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../core/index.js';
import { Engine, type LimitRequest, MICROS, Random } from '../exchange/engine/index.js';

const ORDERS = 200_000;
const WARM_UP = 20_000;
const MARKETS = 40;
const ACCOUNTS = 24;

/** Limit orders per second that the engine accepts in-process, in memory and with a data folder. */
export async function engineBench(): Promise<{ name: string; value: number; unit: string }[]> {
  const folder = await mkdtemp(join(tmpdir(), 'chancery-bench-'));
  try {
    return [
      { name: 'engine: limit orders accepted, in memory', value: await ordersPerSecond(undefined), unit: 'orders/s' },
      {
        name: 'engine: limit orders accepted, journal to a data folder',
        value: await ordersPerSecond(folder),
        unit: 'orders/s',
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ordersPerSecond(dataDir: string | undefined): Promise<number> {
  const engine = new Engine({
    seed: 1,
    events: 0,
    bots: ACCOUNTS,
    pace: 0,
    accounts: 0,
    takerFeeBps: 20,
    clock: systemClock,
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  await engine.start(new AbortController().signal);
  try {
    const next = requests(engine);
    for (let i = 0; i < WARM_UP; i++) engine.placeLimit(next());
    let accepted = 0;
    const started = performance.now();
    while (accepted < ORDERS) if (engine.placeLimit(next()).ok) accepted += 1;
    await engine.durable();
    return Math.round(accepted / ((performance.now() - started) / 1000));
  } finally {
    await engine.stop();
  }
}

/** Bids and asks around a middle, most of them resting, some of them trading, over many markets and accounts. */
function requests(engine: Engine): () => LimitRequest {
  const random = new Random(7, 'engine-bench');
  const markets = Array.from({ length: MARKETS }, (_, i) => {
    const opened = engine.openEvent({
      title: `Bench ${i}`,
      category: 'economy',
      tags: [],
      markets: [{ name: 'Yes', chance: 0.5 }],
    });
    if (!opened.ok) throw new Error(opened.rejection.message);
    return opened.value.markets;
  }).flat();
  const users = engine.botAccounts().map((account) => account.userId);
  for (const user of users) engine.deposit(user, 10_000_000 * MICROS);
  return () => {
    const market = random.pick(markets);
    const bid = random.next() < 0.5;
    const price = 50 + (bid ? -1 : 1) * random.integer(-1, 20);
    return {
      userId: random.pick(users),
      eventId: market.eventId,
      marketId: market.marketId,
      assetId: bid ? market.yesAssetId : market.noAssetId,
      side: 'BUY',
      price: bid ? price : 100 - price,
      quantity: random.integer(100, 2000),
    };
  };
}
