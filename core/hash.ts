import { createHash } from 'node:crypto';

/** The SHA-256 of a text, 32 bytes. */
export const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();

/** The same in hex. */
export const sha256Hex = (text: string | Buffer): string => sha256(text).toString('hex');
