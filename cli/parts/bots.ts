import { BotsProcess } from '../../bots/index.js';
import { type Logger, systemClock } from '../../core/index.js';
import type { RunningExchange } from '../../exchange/index.js';

/** The bots of an exchange that runs in this process, not started; undefined when nobody is to trade. */
export function botsOf({ bots, ready }: RunningExchange, log: Logger): BotsProcess | undefined {
  return bots && new BotsProcess({ ...bots, url: ready.url, clock: systemClock, log });
}
