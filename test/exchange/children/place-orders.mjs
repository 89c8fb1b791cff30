// Trades on an engine with a data folder and says on stdout what was answered with success once it is durable.
import { Random, systemClock } from '../../../dist/core/index.js';
import { Engine } from '../../../dist/exchange/engine/index.js';

const [dataDir, seed] = process.argv.slice(2);
const options = { seed: 1, events: 0, bots: 4, pace: 0, accounts: 1, takerFeeBps: 20, clock: systemClock, dataDir };
const engine = new Engine(options);
await engine.start(new AbortController().signal);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
engine.on('price', ({ seq, marketId, chance, bestBid, bestAsk }) =>
  say({ price: { seq, marketId, chance, bestBid, bestAsk } }),
);
const users = engine.botAccounts().map((account) => account.userId);
if (engine.events().length === 0) {
  engine.openEvent({ title: 'Kill test', category: 'sports', tags: [], markets: [{ name: 'Yes', chance: 0.5 }] });
}
const [market] = engine.events()[0].markets;
const random = new Random(Number(seed));
for (;;) {
  const placed = [];
  for (let i = 0; i < 20; i++) {
    const yes = random.integer(0, 1) === 0;
    const result = engine.placeLimit({
      userId: random.pick(users),
      eventId: market.eventId,
      marketId: market.marketId,
      assetId: yes ? market.yesAssetId : market.noAssetId,
      side: 'BUY',
      price: random.integer(45, 54),
      quantity: random.integer(1, 500),
    });
    if (result.ok) placed.push(result.value);
  }
  await engine.durable();
  for (const { orderId, userId, filled } of placed) say({ order: { orderId, userId, filled } });
}
