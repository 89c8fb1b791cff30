/** The last record of a session that a partition has taken. */
export interface LastRecord {
  readonly sequence: number;
  /** Number of the piece, from 0; 0 for a whole record. */
  readonly piece: number;
}

/**
 * Which records of each session a partition has taken already. On one partition the records of a session come with
 * increasing `sequence` (and pieces of one `sequence` with growing numbers): what does not grow was sent twice.
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

  /** Takes note of a record (`sequence` counts from 1); false when it, or a later one of its session, was taken before. */
  advance(sequence: number, piece: number): boolean {
    if (sequence < this.#sequence || (sequence === this.#sequence && piece <= this.#piece)) return false;
    this.#sequence = sequence;
    this.#piece = piece;
    return true;
  }
}
