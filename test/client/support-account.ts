import { createHmac, randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { ApiKey, ExchangeClient, type ExchangeClientOptions } from '../../client/index.js';
import { Secret } from '../../core/index.js';
import type { SeenRequest } from './support.js';

/** A base64url secret as issued by an exchange. */
export const SECRET_TEXT = randomBytes(32).toString('base64url');
export const SECRET = new Secret(SECRET_TEXT);
export const apiKey = new ApiKey('pk_test', SECRET);

/** The signature by part 5.1, computed without the client's code. */
export function expectedSignature(message: string, secret = SECRET_TEXT): string {
  const key = Buffer.from(secret.replace(/-/g, '+').replace(/_/g, '/'), 'base64');
  const digest = createHmac('sha256', key).update(Buffer.from(message, 'utf8')).digest('base64');
  return digest.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** What is wrong with a request's signature by part 5.1; undefined when it is correct. */
export function signatureFault(request: SeenRequest, nowSeconds = Date.now() / 1000): string | undefined {
  const { 'service-api-key': key, 'service-api-signature': signature, 'service-api-timestamp': time } = request.headers;
  if (request.headers.authorization !== undefined) return 'it carries a Bearer token as well';
  if (key !== 'pk_test') return `the key is ${String(key)}`;
  if (!/^\d+$/.test(String(time)) || Math.abs(Number(time) - nowSeconds) > 30) return `the time is ${String(time)}`;
  const path = request.url.split('?')[0];
  const body = request.method === 'POST' ? request.body : '';
  if (signature !== expectedSignature(`${String(time)}${request.method}${path}${body}`))
    return 'the signature is wrong';
  return undefined;
}

/** A client for one test: with short delays, and closed after it. */
export function exchangeOf(base: string, options: Partial<ExchangeClientOptions> = {}): ExchangeClient {
  const exchange = new ExchangeClient({
    addresses: { base },
    requestsPerSecond: 10_000,
    retryBaseMs: 1,
    retryCapMs: 5,
    ...options,
  });
  onTestFinished(() => exchange.close());
  return exchange;
}

/** What a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
}
