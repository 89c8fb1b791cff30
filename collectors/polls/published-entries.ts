import { type RecordKind, sha256Hex, type UnchangedEntries } from '../../core/index.js';

/** An entry of a polled list. */
export interface ListedEntry {
  /** Its ID; in an event search, of events and markets together. */
  readonly key: string;
  /** Everything that its row is made of. */
  readonly content: unknown;
}

interface PublishedState {
  readonly hash: string;
  /** Receipt of the response with which it was published, Unix microseconds. */
  readonly since: number;
}

const HOUR_MICROS = 3_600_000_000;

/**
 * The entries of polled lists as this session last published them. It forgets them at the beginning of every hour of UTC: the
 * first poll of a session and of an hour has no unchanged entries, and entries that are no longer listed take no memory.
 */
export class PublishedEntries {
  readonly #states = new Map<string, PublishedState>();
  #hour = 0;

  /**
   * Notes the entries of a response, which is published next: records of a list are appended in this order, so a record is
   * on the bus only if those before it are.
   * @param receivedAt Unix microseconds
   * @param entries in the order of the response
   * @returns those that were published in the same state before
   */
  add(kind: RecordKind, receivedAt: number, entries: readonly ListedEntry[]): readonly UnchangedEntries[] {
    const hour = Math.floor(receivedAt / HOUR_MICROS);
    if (hour !== this.#hour) this.#states.clear();
    this.#hour = hour;
    const unchanged: { since: number; from: number; to: number }[] = [];
    for (const [number, { key, content }] of entries.entries()) {
      const id = `${kind} ${key}`;
      const hash = sha256Hex(JSON.stringify(content)).slice(0, 32);
      const before = this.#states.get(id);
      if (before?.hash !== hash || before.since > receivedAt) {
        this.#states.set(id, { hash, since: receivedAt });
        continue;
      }
      const last = unchanged.at(-1);
      if (last?.since === before.since && last.to === number - 1) last.to = number;
      else unchanged.push({ since: before.since, from: number, to: number });
    }
    return unchanged;
  }
}
