import { createHmac } from 'node:crypto';
import { RECORD_KINDS, type RecordKind } from '../../core/index.js';

/** Kinds whose bodies say usernames, or may: of the feeds of part 6.5 nobody knows what they say. */
const NAMING: ReadonlySet<RecordKind> = new Set(['account.activity', 'account.profile-stats', 'reference.feed-frame']);

/**
 * Whether usernames are stored as they are, or, with a key, as their HMAC-SHA-256. With a key nothing is stored as it
 * came that could hold a username: not the bodies of the kinds that say them, and not those of kinds that this version
 * does not know. Then a dead letter of such a record has no payload, and its reason quotes nothing.
 */
export class Privacy {
  constructor(private readonly key?: string | undefined) {}

  /** A username as it is stored: with a key, 64 hexadecimal digits. */
  username(name: string | null): string | null {
    if (this.key === undefined || name === null) return name;
    return createHmac('sha256', this.key).update(name, 'utf8').digest('hex');
  }

  /** Whether what came as a record of this kind may be stored as it came. */
  keepsTextOf(kind: string): boolean {
    if (this.key === undefined) return true;
    return Object.hasOwn(RECORD_KINDS, kind) && !NAMING.has(kind as RecordKind);
  }
}
