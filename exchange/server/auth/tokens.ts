import { createSecretKey, type KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../../core/index.js';

const LIFETIME_SECONDS = 3600;
const ALGORITHM = 'HS256';

interface IssuedToken {
  readonly token: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** Issues and verifies the JWTs of part 5.3: HMAC-SHA256, valid for one hour. */
export class Tokens {
  #key: KeyObject | undefined;

  constructor(private readonly clock: Clock) {}

  /** Sets the signing key; tokens signed with another key are rejected. */
  useKey(key: Buffer): void {
    this.#key = createSecretKey(key);
  }

  async issue(userId: string): Promise<IssuedToken> {
    const now = Math.floor(this.clock.nowMs() / 1000);
    const expiresAt = now + LIFETIME_SECONDS;
    const token = await new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setSubject(userId)
      .setIssuedAt(now)
      .setExpirationTime(expiresAt)
      .sign(this.#signingKey());
    return { token, expiresAt };
  }

  /** The user ID of a token; undefined when it is expired, signed with another key or not a token. */
  async subject(token: string): Promise<string | undefined> {
    const currentDate = new Date(this.clock.nowMs());
    try {
      const { payload } = await jwtVerify(token, this.#signingKey(), { algorithms: [ALGORITHM], currentDate });
      return payload.sub;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  #signingKey(): KeyObject {
    if (!this.#key) throw new Error('no signing key is set');
    return this.#key;
  }
}
