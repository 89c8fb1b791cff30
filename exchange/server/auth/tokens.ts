import { createHmac } from 'node:crypto';
import type { Clock } from '../../../core/index.js';
import { sameText } from './constant-time.js';

const LIFETIME_SECONDS = 3600;
const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');

export interface IssuedToken {
  readonly token: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** Issues and reads the JWTs of part 5.3: HMAC-SHA256, for one hour. */
export class Tokens {
  #key: Buffer | undefined;

  constructor(private readonly clock: Clock) {}

  /** Names the key that signs; tokens of another key are foreign. */
  useKey(key: Buffer): void {
    this.#key = key;
  }

  issue(userId: string): IssuedToken {
    const now = Math.floor(this.clock.nowMs() / 1000);
    const expiresAt = now + LIFETIME_SECONDS;
    const payload = Buffer.from(JSON.stringify({ sub: userId, iat: now, exp: expiresAt })).toString('base64url');
    return { token: `${HEADER}.${payload}.${this.#sign(payload)}`, expiresAt };
  }

  /** The user ID of a token; undefined when it is expired, foreign or none. */
  subject(token: string): string | undefined {
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    if (more.length > 0 || header !== HEADER || !sameText(signature, this.#sign(payload))) return undefined;
    const { sub, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string; exp: number };
    return this.clock.nowMs() < exp * 1000 ? sub : undefined;
  }

  #sign(payload: string): string {
    if (!this.#key) throw new Error('tokens have no key yet');
    return createHmac('sha256', this.#key).update(`${HEADER}.${payload}`).digest('base64url');
  }
}
