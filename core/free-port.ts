import { createServer } from 'node:net';

/** Whether a server could listen on this port now. Checks by listening on it briefly. */
export function isFreePort(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
