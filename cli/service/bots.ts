import { BotsProcess } from '../../bots/index.js';
import { type Logger, systemClock } from '../../core/index.js';
import type { RunningExchange } from '../../exchange/index.js';

/** The bots of an exchange in this process, not started; undefined without bots or at pace 0. */
export function botsOf({ bots, ready }: RunningExchange, log: Logger): BotsProcess | undefined {
  return bots && new BotsProcess({ ...bots, url: ready.url, clock: systemClock, log });
}
