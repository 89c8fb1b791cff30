import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../../core/index.js';

/** Compares two texts in constant time. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}
