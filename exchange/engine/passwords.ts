import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

const COST = 1024;
const LENGTH = 32;

/** `scrypt$cost$salt$hash`, the last two base64url. The same password and salt always give the same text. */
export function hashPassword(password: string, salt: Buffer = randomBytes(16)): string {
  const hash = scryptSync(password, salt, LENGTH, { N: COST });
  return `scrypt$${COST}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** Constant time. */
export function passwordMatches(password: string, hash: string): boolean {
  const [kind, cost, salt, expected] = hash.split('$');
  if (kind !== 'scrypt' || !cost || !salt || !expected) return false;
  const wanted = Buffer.from(expected, 'base64url');
  const actual = scryptSync(password, Buffer.from(salt, 'base64url'), LENGTH, { N: Number(cost) });
  return wanted.length === actual.length && timingSafeEqual(wanted, actual);
}
