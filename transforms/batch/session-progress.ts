/** The last record of a session that a partition has taken. */
export interface LastRecord {
  readonly n: number;
  /** Number of the piece, from 0; 0 for a whole record. */
  readonly piece: number;
}

/**
 * Which records of each session a partition has taken already. On one partition the records of a session come with
 * growing `n` (and pieces of one `n` with growing numbers): what does not grow was sent twice.
 */
export class SessionProgress {
  readonly #cursors: Map<string, SessionCursor>;

  constructor(last: Iterable<readonly [sid: string, last: LastRecord]> = []) {
    this.#cursors = new Map(Array.from(last, ([sid, { n, piece }]) => [sid, new SessionCursor(n, piece)]));
  }

  cursor(sid: string): SessionCursor {
    let cursor = this.#cursors.get(sid);
    if (!cursor) {
      cursor = new SessionCursor(0, 0);
      this.#cursors.set(sid, cursor);
    }
    return cursor;
  }
}

export class SessionCursor {
  #n: number;
  #piece: number;

  constructor(n: number, piece: number) {
    this.#n = n;
    this.#piece = piece;
  }

  /** Takes note of a record (`n` counts from 1); false when it, or a later one of its session, was taken before. */
  advance(n: number, piece: number): boolean {
    if (n < this.#n || (n === this.#n && piece <= this.#piece)) return false;
    this.#n = n;
    this.#piece = piece;
    return true;
  }
}
