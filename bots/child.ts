/**
 * The process in which the bots trade: `node child.js`, with a handover and then news on standard input. It ends when
 * it is asked to, and when its input ends.
 */
import { createInterface } from 'node:readline';
import { createLogger, processSignal, Secret, systemClock } from '../core/index.js';
import { Crew } from './crew.js';
import type { Handover, News } from './handover.js';

const signal = processSignal(process.stdin);
const lines = createInterface({ input: process.stdin });
signal.addEventListener('abort', () => lines.close(), { once: true });

let fair: ReadonlyMap<string, number> = new Map();
let crew: Crew | undefined;
for await (const line of lines) {
  if (crew) {
    fair = new Map((JSON.parse(line) as News).fair);
    continue;
  }
  const { accounts, ...rest } = JSON.parse(line) as Handover;
  crew = new Crew({
    ...rest,
    keys: accounts.map(({ apiKey, apiSecret }) => ({ apiKey, apiSecret: new Secret(apiSecret) })),
    fair: (marketId) => fair.get(marketId),
    clock: systemClock,
    log: createLogger({ part: 'bots' }),
  });
  await crew.start(signal);
}
await crew?.stop();
process.stdin.destroy();
