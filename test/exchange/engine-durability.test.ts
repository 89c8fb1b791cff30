import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine } from '../../exchange/engine/index.js';
import { ManualClock } from '../support/clocks.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Action, action, everything, Playground } from './engine-actions.js';
import { good, OrderEntry, openMarkets, openUser, quietOptions, startEngine } from './engine-rig.js';

const root = temporaryFolder();
let folders = 0;
const newPath = () => join(root, `data-${folders++}`);

async function crashedCopy(path: string): Promise<string> {
  const copy = newPath();
  await cp(path, copy, { recursive: true, filter: (name) => !name.endsWith('.lock') });
  return copy;
}

const actions = fc.array(action, { minLength: 5, maxLength: 200, size: 'max' });

describe('an engine with a data folder', () => {
  it('has the same state after a kill, and continues exactly as it would have without it', async () => {
    await fc.assert(
      fc.asyncProperty(actions, actions, fc.boolean(), async (before, after, restartFirst) => {
        const path = newPath();
        const clock = new ManualClock();
        let engine = await startEngine({ dataDir: path }, clock);
        const play = Playground.begin(engine, clock);
        for (const one of before) play.do(one);
        if (restartFirst) {
          await engine.stop();
          engine = await startEngine({ dataDir: path }, clock);
        }
        const restarted = play.on(engine, clock);
        for (const one of after) restarted.do(one);
        const copy = await crashedCopy(path);
        await appendFile(await lastJournal(copy), 'torn');
        const clockOfCopy = new ManualClock(clock.micros);
        const recovered = await startEngine({ dataDir: copy }, clockOfCopy);
        expect(everything(recovered, play.users)).toEqual(everything(engine, play.users));
        const playOfCopy = play.on(recovered, clockOfCopy);
        for (const one of before) expect(playOfCopy.do(one)).toBe(restarted.do(one));
        expect(everything(recovered, play.users)).toEqual(everything(engine, play.users));
        await Promise.all([engine.stop(), recovered.stop()]);
      }),
      { numRuns: 25 },
    );
  });

  it('has readable long histories after a clean stop', async () => {
    const path = newPath();
    const clock = new ManualClock();
    const first = await startEngine({ dataDir: path }, clock);
    const play = Playground.begin(first, clock);
    const list = fc.sample(action, { numRuns: 6000, seed: 11 }).filter((one: Action) => one.kind !== 'resolve');
    for (const one of list) play.do(one);
    const wanted = everything(first, play.users);
    await first.stop();
    const second = await startEngine({ dataDir: path }, clock);
    expect(everything(second, play.users)).toEqual(wanted);
    const user = play.user(0);
    const marketId = play.event.markets[1]?.marketId ?? '';
    const ofMarket = second
      .orders(user, { page: 0, size: 1e6, sort: 'asc' })
      .items.filter((o) => o.marketId === marketId);
    expect(second.orders(user, { page: 2, size: 7, marketId, sort: 'asc' })).toEqual({
      items: ofMarket.slice(14, 21),
      total: ofMarket.length,
    });
    expect(ofMarket.length).toBeGreaterThan(100);
  });

  it('retains its seed, uses a new fee, and opens missing seeded accounts', async () => {
    const path = newPath();
    const first = await startEngine({ dataDir: path, seed: 3, accounts: 1, bots: 1 });
    const [account] = first.seededAccounts();
    await first.stop();
    const second = await startEngine({ dataDir: path, seed: 4, accounts: 2, bots: 1, takerFeeBps: 0 });
    const user = openUser(second, 'user@example.test', 10);
    good(new OrderEntry(second).limit(user, 'BUY', 'YES', 50, 100));
    expect(second.account(user)?.lockedMicros).toBe(500_000);
    expect(second.seededAccounts()).toHaveLength(2);
    expect(second.seededAccounts()[0]).toEqual(account);
    const fresh = await startEngine({ seed: 3, accounts: 2, bots: 1 });
    expect(fresh.seededAccounts()).toEqual(second.seededAccounts());
    expect(fresh.botAccounts()).toEqual(second.botAccounts());
  });

  it('does not repeat events when it starts, and accepts commands from listeners', async () => {
    const path = newPath();
    const first = await startEngine({ dataDir: path });
    const user = openUser(first, 'user@example.test');
    const event = openMarkets(first);
    const market = event.markets[0];
    if (!market) throw new Error('no market');
    const order = { userId: user, eventId: event.eventId, marketId: market.marketId, assetId: market.yesAssetId };
    const heard: string[] = [];
    first.on('price', ({ bestBid }) => {
      heard.push(`first ${bestBid}`);
      if (bestBid === 0.1) good(first.placeLimit({ ...order, side: 'BUY', price: 20, quantity: 100 }));
    });
    first.on('price', ({ bestBid }) => heard.push(`second ${bestBid}`));
    good(first.placeLimit({ ...order, side: 'BUY', price: 10, quantity: 100 }));
    expect(heard).toEqual(['first 0.1', 'second 0.1', 'first 0.2', 'second 0.2']);
    await first.stop();
    const again: unknown[] = [];
    const second = new Engine({ ...quietOptions(new ManualClock()), dataDir: path });
    second.on('price', (change) => again.push(change));
    await second.start(new AbortController().signal);
    expect(again).toEqual([]);
    good(second.placeLimit({ ...order, side: 'BUY', price: 30, quantity: 100 }));
    expect(again).toMatchObject([{ bestBid: 0.3, seq: 3 }]);
    expect([...second.pricesAfter(0)].map((row) => row.b)).toEqual([0.1, 0.2, 0.3]);
    await second.stop();
  });

  it('loses nothing that was acknowledged or published when its process is killed repeatedly', async () => {
    const path = newPath();
    const orders = new Map<string, { userId: string; filled: number }>();
    const prices = new Map<number, unknown>();
    for (let round = 0; round < 4; round++) {
      const lines = await killedRun(path, round + 1, 150 + round * 170);
      expect(lines.length).toBeGreaterThan(20);
      for (const line of lines) {
        const said = JSON.parse(line) as Said;
        if (said.order) orders.set(said.order.orderId, said.order);
        if (said.price) prices.set(said.price.seq, said.price);
      }
    }
    const engine = await startEngine({ dataDir: path, bots: 4, accounts: 1 });
    const kept = new Map(
      engine
        .botAccounts()
        .flatMap(({ userId }) => engine.orders(userId, { page: 0, size: 1e6 }).items.map((o) => [o.orderId, o])),
    );
    const lost = [...orders].filter(([id, { userId, filled }]) => {
      const order = kept.get(id);
      return order?.userId !== userId || order.filled < filled;
    });
    expect(lost).toEqual([]);
    const truth = new Map(
      [...engine.pricesAfter(0)].map(({ seq, marketId, c, b, a }) => [
        seq,
        { seq, marketId, chance: c, bestBid: b, bestAsk: a },
      ]),
    );
    for (const [seq, price] of prices) expect(truth.get(seq)).toEqual(price);
    expect(engine.truth().identity.balanced).toBe(true);
  });

  it('rejects orders while its disk is full, and retains earlier ones', async () => {
    const path = newPath();
    const script = fileURLToPath(new URL('children/fill-disk.mjs', import.meta.url));
    // No file may exceed 200 KiB, and the signal for that is ignored, which simulates a full disk.
    const limited = ['-c', 'trap "" XFSZ; ulimit -f 200; exec "$0" "$@"', process.execPath, script, path];
    const child = spawn('bash', limited, { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(child, 'exit');
    const accepted: string[] = [];
    const refused: { refused: string; retryable: boolean; active: number }[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const said = JSON.parse(line) as { accepted: string } & (typeof refused)[number];
      if (said.accepted) accepted.push(said.accepted);
      else refused.push(said);
      if (refused.length === 3) child.kill('SIGKILL');
    }
    await gone;
    expect(accepted.length).toBeGreaterThan(500);
    for (const one of refused) {
      expect(one).toMatchObject({ retryable: true, active: accepted.length });
      expect(one.refused).toMatch(/^cannot write .*journal-0+\.log \(.*\); free space on its disk$/);
    }
    const engine = await startEngine({ dataDir: path, bots: 2 });
    const [bot] = engine.botAccounts();
    const active = engine.activeOrders(bot?.userId ?? '');
    expect(active.map((order) => order.orderId)).toEqual(accepted);
    const [first] = active;
    if (!first) throw new Error('no orders');
    expect(good(engine.placeLimit({ ...first, price: 21 })).status).toBe('ACTIVE');
  });
});

interface Said {
  readonly order?: { readonly orderId: string; readonly userId: string; readonly filled: number };
  readonly price?: { readonly seq: number };
}

async function lastJournal(path: string): Promise<string> {
  const names = (await readdir(path)).filter((name) => name.startsWith('journal-')).sort();
  return join(path, names.at(-1) ?? '');
}

/** Lets a child trade until it has written `lineCount` lines, then kills it. Returns its complete lines. */
async function killedRun(path: string, seed: number, lineCount: number): Promise<string[]> {
  const script = fileURLToPath(new URL('children/place-orders.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, path, String(seed)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === lineCount) child.kill('SIGKILL');
  }
  // Its pipe closes before the process has ended and released the folder.
  await gone;
  // The kill may cut the last line anywhere, also right after an inner brace.
  return lines.filter((line, i) => i < lines.length - 1 || isJson(line));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
