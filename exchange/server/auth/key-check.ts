import { createHmac, type Hmac, randomBytes } from 'node:crypto';
import { TIMESTAMP_WINDOW_SECONDS } from '../../../client/wire/index.js';
import type { Clock } from '../../../core/index.js';
import type { ExchangeCore } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import { sameText } from './constant-time.js';

/** The credentials of a signed request or AUTH message, unverified. */
export interface KeyClaim {
  readonly key: string;
  readonly signature: string;
  readonly timestamp: string;
}

/** The account that a valid signature belongs to. */
export interface KeyHolder {
  readonly userId: string;
  /** Unix micros; null means never. */
  readonly expiresAt: number | null;
}

/** Used for keys that do not exist, so that rejecting them takes as long as rejecting a wrong signature. */
const DUMMY_SECRET = randomBytes(32);

/**
 * Checks the signature of part 5.1 over `timestamp + method + path + body`. The body may follow in chunks.
 */
export class KeyCheck {
  readonly #hmac: Hmac;
  readonly #keyId: string | undefined;

  /** @throws HttpError 401 when the timestamp is missing or outside the window */
  constructor(
    private readonly core: Pick<ExchangeCore, 'apiKeyHolder'>,
    private readonly clock: Pick<Clock, 'nowMs' | 'nowMicros'>,
    private readonly claim: KeyClaim,
    methodAndPath: string,
  ) {
    const { key, timestamp } = claim;
    const off = Math.floor(clock.nowMs() / 1000) - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN);
    if (!(Math.abs(off) <= TIMESTAMP_WINDOW_SECONDS)) {
      throw new HttpError(401, `the timestamp is not within ${TIMESTAMP_WINDOW_SECONDS} seconds of the server's time`);
    }
    const record = core.apiKeyHolder(key)?.credentials.apiKey ?? undefined;
    const isKey = sameText(key, record?.key ?? '');
    this.#keyId = isKey ? record?.id : undefined;
    // Node reads base64url with and without padding.
    const secret = record ? Buffer.from(record.secret, 'base64url') : DUMMY_SECRET;
    this.#hmac = createHmac('sha256', secret).update(timestamp).update(methodAndPath);
  }

  /** Takes the next chunk of the body, unchanged. */
  update(chunk: Buffer): void {
    this.#hmac.update(chunk);
  }

  /** @throws HttpError 401 when the key or signature is wrong or the key expired, 403 when it is blocked */
  finish(): KeyHolder {
    const signed = sameText(this.claim.signature, this.#hmac.digest('base64url'));
    // Looked up again: the key may have been revoked while the body was being received.
    const holder = this.core.apiKeyHolder(this.claim.key);
    const record = holder?.credentials.apiKey;
    if (!signed || !holder || !record || record.id !== this.#keyId) {
      throw new HttpError(401, 'the API key or the signature is wrong');
    }
    const { expiresAt } = record;
    if (expiresAt !== null && this.clock.nowMicros() >= expiresAt) throw new HttpError(401, 'the API key has expired');
    if (holder.credentials.keyBlocked) throw new HttpError(403, 'the API key is permanently blocked');
    return { userId: holder.userId, expiresAt };
  }
}
