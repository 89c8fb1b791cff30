import { randomInt } from 'node:crypto';
import { isFreePort, UsageError } from '../../core/index.js';

/**
 * A free loopback port outside the range of ephemeral ports, so that no outgoing connection uses it when a killed server
 * restarts.
 */
export async function freePort(taken: readonly number[] = []): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(20_000, 32_000);
    if (!taken.includes(port) && (await isFreePort(port))) return port;
  }
  throw new UsageError('found no free loopback port between 20000 and 32000; stop other servers');
}
