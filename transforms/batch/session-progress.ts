/** The last record of a session that a partition has processed. */
export interface LastRecord {
  readonly sequence: number;
  /** Number of the piece, from 0; 0 for a record without pieces. */
  readonly piece: number;
}

/**
 * The last processed record of each session on a partition. The records of a session arrive on a partition with increasing
 * `sequence` (the pieces of one `sequence` with increasing numbers): one that does not increase is a duplicate.
 */
export class SessionProgress {
  readonly #cursors: Map<string, SessionCursor>;

  constructor(last: Iterable<readonly [sessionId: string, last: LastRecord]> = []) {
    this.#cursors = new Map(
      Array.from(last, ([sessionId, { sequence, piece }]) => [sessionId, new SessionCursor(sequence, piece)]),
    );
  }

  cursor(sessionId: string): SessionCursor {
    let cursor = this.#cursors.get(sessionId);
    if (!cursor) {
      cursor = new SessionCursor(0, 0);
      this.#cursors.set(sessionId, cursor);
    }
    return cursor;
  }
}

export class SessionCursor {
  #sequence: number;
  #piece: number;

  constructor(sequence: number, piece: number) {
    this.#sequence = sequence;
    this.#piece = piece;
  }

  /** Advances to a record (`sequence` counts from 1); false when it, or a later one of its session, was processed before. */
  advance(sequence: number, piece: number): boolean {
    if (sequence < this.#sequence || (sequence === this.#sequence && piece <= this.#piece)) return false;
    this.#sequence = sequence;
    this.#piece = piece;
    return true;
  }
}
