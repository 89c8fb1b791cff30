import { createHmac } from 'node:crypto';
import { RECORD_KINDS, type RecordKind } from '../../core/index.js';

/** Kinds whose bodies may contain usernames; the messages of the feeds of part 6.5 are not documented. */
const WITH_USERNAMES: ReadonlySet<RecordKind> = new Set([
  'account.activity',
  'account.profile-stats',
  'reference.feed-frame',
]);

/**
 * Stores usernames unchanged or, with a key, as their HMAC-SHA-256. With a key, no text that may contain a username is
 * stored: no bodies of such kinds or of kinds unknown to this version. Dead letters of these records have no payload, and
 * their reasons quote nothing.
 */
export class Privacy {
  constructor(private readonly key?: string | undefined) {}

  /** The stored form of a username: with a key, 64 hexadecimal digits. */
  username(name: string | null): string | null {
    if (this.key === undefined || name === null) return name;
    return createHmac('sha256', this.key).update(name, 'utf8').digest('hex');
  }

  /** Whether bodies of this kind may be stored. */
  mayStoreBodyOf(kind: string): boolean {
    if (this.key === undefined) return true;
    return Object.hasOwn(RECORD_KINDS, kind) && !WITH_USERNAMES.has(kind as RecordKind);
  }
}
