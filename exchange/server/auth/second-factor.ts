import { createHash } from 'node:crypto';
import type { Credentials } from '../../engine/index.js';
import { sameText } from './constant-time.js';

/** The fixed second factor of an account, six digits: derived from its password hash, which only the exchange has. */
export function secondFactorOf({ passwordHash }: Pick<Credentials, 'passwordHash'>): string {
  const number = createHash('sha256').update(`second factor ${passwordHash}`).digest().readUInt32BE(0);
  return String(number % 1_000_000).padStart(6, '0');
}

/** Whether the second factor is correct, or not required. */
export function secondFactorFits(credentials: Credentials, given: string | null | undefined): boolean {
  return !credentials.otp || sameText(given ?? '', secondFactorOf(credentials));
}
