import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { type PrivateStreamPath, type Secret, UsageError } from '../../core/index.js';
import { API_KEY_HEADERS, type StreamAuthWire } from '../wire/index.js';

/** The signed parts of a REST request, part 5.1. */
export interface Signable {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path of the interface as sent, percent-encoded, without host and query. */
  readonly path: string;
  /** The exact text of the body; empty without a body. */
  readonly body: string;
}

/** An API key of an account (part 5.1). It signs requests and never exposes its secret. */
export class ApiKey {
  readonly #hmacKey: KeyObject;

  /**
   * @param key the public key
   * @param secret base64url, with or without padding, as received when the key was created
   * @throws UsageError for an invalid key or secret; the message does not show the secret
   */
  constructor(
    readonly key: string,
    readonly secret: Secret,
  ) {
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new UsageError('the API key is invalid; give it without spaces and line breaks');
    const text = secret.reveal();
    if (!/^[A-Za-z0-9_-]+={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) {
      throw new UsageError('the API secret is not base64url; give it exactly as received when the key was created');
    }
    this.#hmacKey = createSecretKey(Buffer.from(text, 'base64url'));
  }

  /** The base64url HMAC-SHA256 of a message, without padding. */
  sign(message: string): string {
    return createHmac('sha256', this.#hmacKey).update(message, 'utf8').digest('base64url');
  }

  /** The three headers of a REST request, part 5.1. @param timestamp Unix seconds by the exchange's clock */
  headers({ method, path, body }: Signable, timestamp: number): Record<string, string> {
    return {
      [API_KEY_HEADERS.key]: this.key,
      [API_KEY_HEADERS.signature]: this.sign(`${timestamp}${method}${path}${body}`),
      [API_KEY_HEADERS.timestamp]: String(timestamp),
    };
  }

  /** The AUTH message of a private stream, part 5.5. @param timestamp Unix seconds by the exchange's clock */
  streamAuth(path: PrivateStreamPath, timestamp: number): StreamAuthWire {
    const signature = this.sign(`${timestamp}GET${path}`);
    return { t: 'AUTH', d: { apiKey: this.key, signature, timestamp: String(timestamp) } };
  }
}
