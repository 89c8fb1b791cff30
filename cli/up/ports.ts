import { createServer } from 'node:net';
import { UsageError } from '../../core/index.js';

const HOW_FAR = 50;

/** The first free port of preferred, preferred + 1, …; a person who started two of these sees neighbours. */
export async function freePortFrom(preferred: number, taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let port = preferred; port < preferred + HOW_FAR; port++) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new UsageError(`ports ${preferred} to ${preferred + HOW_FAR - 1} are all taken; name a free one`);
}

/** Whether a server could listen on this port now. */
export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
