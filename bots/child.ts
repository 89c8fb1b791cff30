/**
 * The child process in which the bots trade: `node child.js`, with the messages of `child-messages.ts` on standard input.
 * It exits on SIGTERM and at the end of its input.
 */
import { createInterface } from 'node:readline';
import { createLogger, processSignal, Secret, systemClock } from '../core/index.js';
import { BotFleet } from './bot-fleet.js';
import type { BotsSetup, FairValues } from './child-messages.js';

const signal = processSignal(process.stdin);
const lines = createInterface({ input: process.stdin });
signal.addEventListener('abort', () => lines.close(), { once: true });

let fair: ReadonlyMap<string, number> = new Map();
let fleet: BotFleet | undefined;
for await (const line of lines) {
  if (fleet) {
    fair = new Map((JSON.parse(line) as FairValues).fair);
    continue;
  }
  const { accounts, ...rest } = JSON.parse(line) as BotsSetup;
  fleet = new BotFleet({
    ...rest,
    keys: accounts.map(({ apiKey, apiSecret }) => ({ apiKey, apiSecret: new Secret(apiSecret) })),
    fair: (marketId) => fair.get(marketId),
    clock: systemClock,
    log: createLogger({ service: 'bots' }),
  });
  await fleet.start(signal);
}
await fleet?.stop();
process.stdin.destroy();
