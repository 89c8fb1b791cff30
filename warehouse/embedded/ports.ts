import { randomInt } from 'node:crypto';
import { isFreePort, UsageError } from '../../core/index.js';

/**
 * A free loopback port outside the range from which outgoing connections get theirs, so that a server that was killed
 * finds its port free when it starts again.
 */
export async function freePort(taken: readonly number[] = []): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(20_000, 32_000);
    if (!taken.includes(port) && (await isFreePort(port))) return port;
  }
  throw new UsageError('no free loopback port between 20000 and 32000 was found; close some servers');
}
