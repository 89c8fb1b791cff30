import { createHmac } from 'node:crypto';
import { RECORD_KINDS, type RecordKind } from '../../core/index.js';

/** Kinds whose bodies hold usernames, or may: the interface does not show the messages of the feeds of part 6.5. */
const WITH_USERNAMES: ReadonlySet<RecordKind> = new Set([
  'account.activity',
  'account.profile-stats',
  'reference.feed-frame',
]);

/**
 * Whether usernames are stored as they are or, with a key, as their HMAC-SHA-256. With a key no text is stored that could
 * hold a username: no bodies of the kinds that hold them, and none of kinds that this version does not know. A dead
 * letter of such a record has no payload, and its reason quotes nothing.
 */
export class Privacy {
  constructor(private readonly key?: string | undefined) {}

  /** A username as it is stored: with a key, 64 hexadecimal digits. */
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
