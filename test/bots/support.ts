import { onTestFinished } from 'vitest';
import { Crew } from '../../bots/index.js';
import { createLogger, Secret, systemClock } from '../../core/index.js';
import type { SeededAccount } from '../../exchange/engine/index.js';

export interface CrewSetup {
  readonly url: string;
  readonly accounts: readonly SeededAccount[];
  readonly seed?: number;
  readonly pace: number;
  readonly fairValues?: () => ReadonlyMap<string, number>;
}

/** Bots that trade in the test's own process, over real sockets, until they are stopped or the test is over. */
export async function startCrew({ url, accounts, seed = 1, pace, fairValues }: CrewSetup): Promise<Crew> {
  const crew = new Crew({
    url,
    keys: accounts.map(({ apiKey, apiSecret }) => ({ apiKey, apiSecret: new Secret(apiSecret) })),
    seed,
    pace,
    fair: (marketId) => fairValues?.().get(marketId),
    clock: systemClock,
    log: createLogger({ part: 'bots', level: 'error' }),
  });
  onTestFinished(() => crew.stop());
  await crew.start(new AbortController().signal);
  return crew;
}
