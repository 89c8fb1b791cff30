import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ConnectFailedEvent, ExchangeClient, OrderBookStream, TransportError } from '../../client/index.js';
import { whyNoBroker } from '../kafka/jars.js';
import { makeCertificate } from '../support/certificate.js';
import { describeWithout } from '../support/describe-without.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { recorder, serve } from './support.js';

const SUITE = 'an exchange behind TLS';
const STORE = { file: join(temporaryFolder(), 'server.p12'), password: 'a-password' };

const end: RequestListener = (_, response) => void response.end('{}');

async function failureOf(base: string): Promise<TransportError> {
  const exchange = new ExchangeClient({ addresses: { base }, attempts: 1 });
  onTestFinished(() => exchange.close());
  const error = await exchange.coins().catch((cause) => cause);
  expect(error).toBeInstanceOf(TransportError);
  return error;
}

function suite(): void {
  beforeAll(() => makeCertificate(STORE));

  it('is refused when its certificate is not trusted, by requests and by streams, with what to do', async () => {
    const base = await serve(end, { pfx: readFileSync(STORE.file), passphrase: STORE.password });
    const error = await failureOf(base);
    expect(error).toMatchObject({ code: 'certificate', unsent: true, retryable: true });
    expect(error.message).toMatch(/has a certificate that is not trusted; .*NODE_EXTRA_CA_CERTS.*self-signed/);

    const failed = recorder<ConnectFailedEvent>();
    const stream = new OrderBookStream({ addresses: { base }, onConnectFailed: failed });
    onTestFinished(() => stream.close());
    stream.start();
    expect((await failed.next()).error).toMatchObject({ code: 'certificate' });
  });

  it('is distinguished from one that speaks HTTP without TLS', async () => {
    const base = await serve(end);
    const error = await failureOf(base.replace('http:', 'https:'));
    expect(error).toMatchObject({ code: 'tls', unsent: true });
    expect(error.message).toContain('check whether its address begins with http or https');
  });
}

const why = whyNoBroker();
if (why === undefined) describe(SUITE, suite);
else describeWithout(SUITE, why, {}, suite);
