// Places orders until the journal cannot grow any more (the test limits file sizes), and says what was accepted.
import { systemClock } from '../../../dist/core/index.js';
import { Engine } from '../../../dist/exchange/engine/index.js';

const options = { seed: 1, events: 0, bots: 2, pace: 0, accounts: 0, takerFeeBps: 20, clock: systemClock };
const engine = new Engine({ ...options, dataDir: process.argv[2] });
await engine.start(new AbortController().signal);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const markets = [{ name: 'Yes', chance: 0.5 }];
const opened = engine.openEvent({ title: 'Full disk', category: 'sports', tags: [], markets });
const { eventId, marketId, yesAssetId } = opened.value.markets[0];
const [{ userId }] = engine.botAccounts();
const order = { userId, eventId, marketId, assetId: yesAssetId, side: 'BUY', price: 20, quantity: 100 };
let refused = 0;
for (let i = 0; i < 10_000 && refused < 3; i++) {
  try {
    say({ accepted: engine.placeLimit(order).value.orderId });
  } catch (error) {
    refused += 1;
    say({ refused: error.message, retryable: error.retryable, active: engine.activeOrders(userId).length });
  }
}
setInterval(() => undefined, 1000);
