import { createHash } from 'node:crypto';

/** The SHA-256 of a text, in hex. */
export const sha256Hex = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
