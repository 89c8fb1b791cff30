import { BotFleet } from '../../bots/index.js';
import { createLogger, Secret, systemClock } from '../../core/index.js';
import type { SeededAccount } from '../../exchange/engine/index.js';
import { atEnd } from '../support/at-end.js';

export interface FleetSetup {
  readonly url: string;
  readonly accounts: readonly SeededAccount[];
  readonly seed?: number;
  readonly pace: number;
  readonly fairValues?: () => ReadonlyMap<string, number>;
}

/** Bots that trade in the test's own process, over real sockets, until they are stopped or the test is over. */
export async function startFleet({ url, accounts, seed = 1, pace, fairValues }: FleetSetup): Promise<BotFleet> {
  const fleet = new BotFleet({
    url,
    keys: accounts.map(({ apiKey, apiSecret }) => ({ apiKey, apiSecret: new Secret(apiSecret) })),
    seed,
    pace,
    fair: (marketId) => fairValues?.().get(marketId),
    clock: systemClock,
    log: createLogger({ service: 'bots', level: 'error' }),
  });
  atEnd(() => fleet.stop());
  await fleet.start(new AbortController().signal);
  return fleet;
}
