import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { deferred } from '../../core/index.js';
import { FAULTS, type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';

/** Number of complete requests that a fault forwards to the server; one unless named. */
const WHOLE: Partial<Record<Fault, number>> = {
  'reset-before': 0,
  'bad-gateway': 0,
  'cut-request': 0,
  'half-sent': 0,
  twice: 2,
};

describe('an idle proxy sends nothing more, after', () => {
  let server: Server | undefined;
  let proxy: FaultProxy | undefined;
  afterEach(async () => {
    await proxy?.close();
    server?.closeAllConnections();
    server?.close();
  });

  it.each(FAULTS)('%s', async (fault) => {
    let whole = 0;
    const { promise: underWay, resolve: arrived } = deferred();
    server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        whole += 1;
        response.end('done');
      });
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    proxy = await startFaultProxy(
      () => target,
      () => {
        arrived();
        return fault;
      },
      () => 150,
    );
    const answered = fetch(proxy.url, { method: 'POST', body: 'some rows' }).then(
      (answer) => answer.text(),
      () => undefined,
    );
    await underWay;
    await proxy.quiesced();
    expect(whole).toBe(WHOLE[fault] ?? 1);
    await answered.catch(() => undefined);
  });
});
