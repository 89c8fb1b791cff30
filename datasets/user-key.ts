import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { UsageError, writeFileAtomic } from '../core/index.js';

const BLOCK_BYTES = 64;

/** The two blocks of HMAC (RFC 2104) with a key, in hexadecimal digits: a query computes the HMAC with SHA-256 and these. */
export interface HmacBlocks {
  readonly inner: string;
  readonly outer: string;
}

export function hmacBlocks(key: Buffer): HmacBlocks {
  const padded = Buffer.concat([key], BLOCK_BYTES);
  const xor = (byte: number) => Buffer.from(padded.map((own) => own ^ byte)).toString('hex');
  return { inner: xor(0x36), outer: xor(0x5c) };
}

/**
 * The key under which user IDs and names are written; made when the file does not exist (mode 0600).
 * @throws UsageError when the file has another content
 */
export async function userKey(path: string): Promise<Buffer> {
  if (!existsSync(path)) await writeFileAtomic(path, `${randomBytes(32).toString('hex')}\n`, true);
  const hex = readFileSync(path, 'utf8').trim();
  if (/^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, 'hex');
  throw new UsageError(
    `${path} is not a key of 64 hexadecimal digits; without the file the next export makes a new key`,
  );
}

/** The key of the releases of one name. */
export const releaseKey = (key: Buffer, name: string): Buffer => createHmac('sha256', key).update(name).digest();
