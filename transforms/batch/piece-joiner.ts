import type { ValidationIssue } from '../../client/index.js';
import type { Envelope } from '../record/envelope.js';

/** A record whose envelope could be read, and its bytes. */
export interface ReadRecord {
  readonly offset: number;
  readonly envelope: Envelope;
  readonly value: Buffer;
}

/** Pieces of one body that have come so far: at least one. */
interface Group {
  readonly first: ReadRecord;
  readonly of: number;
  readonly texts: string[];
  readonly pieces: ReadRecord[];
}

/** What a piece leads to: the whole body once it is complete, or a fault about pieces that will never be whole. */
type Joined =
  | { readonly type: 'waiting' }
  | { readonly type: 'complete'; readonly pieces: readonly ReadRecord[]; readonly text: string }
  | { readonly type: 'orphan'; readonly fault: ValidationIssue };

/** Pieces whose body never became whole. */
export interface Incomplete {
  /** In the order in which they came: at least one. */
  readonly pieces: readonly ReadRecord[];
  /** The last of them. */
  readonly last: ReadRecord;
  readonly text: string;
  readonly fault: ValidationIssue;
}

/**
 * Joins the pieces of bodies that were too large for one bus record. The pieces of a session come one after the other;
 * records of other sessions may lie between them.
 */
export class PieceJoiner {
  readonly #groups = new Map<string, Group>();

  /** How many bodies are waiting for more pieces. */
  get waiting(): number {
    return this.#groups.size;
  }

  /** How much waits: bytes of the records, and their texts, UTF-16 units. */
  get length(): number {
    let length = 0;
    for (const { texts, pieces } of this.#groups.values()) {
      for (const text of texts) length += text.length;
      for (const { value } of pieces) length += value.length;
    }
    return length;
  }

  /** Takes the next piece of a session, after `abandon`. */
  add(read: ReadRecord): Joined {
    const { sessionId, piece, body } = read.envelope.record;
    if (!piece) throw new TypeError('the record is not a piece');
    // The memory of a value as it was read is used again when its batch is done.
    const held = { ...read, value: Buffer.from(read.value) };
    const begun = piece.i === 0 ? undefined : this.#groups.get(sessionId);
    const group: Group = begun ?? { first: held, of: piece.of, texts: [], pieces: [] };
    if (group.texts.length !== piece.i || group.of !== piece.of) {
      const reason = `piece ${piece.i} of ${piece.of} came without the pieces before it`;
      return { type: 'orphan', fault: { path: 'piece', reason } };
    }
    group.texts.push(String(body));
    group.pieces.push(held);
    if (group.texts.length < group.of) {
      this.#groups.set(sessionId, group);
      return { type: 'waiting' };
    }
    this.#groups.delete(sessionId);
    return { type: 'complete', pieces: group.pieces, text: group.texts.join('') };
  }

  /** Gives up what waits for the session, unless `n` continues it. */
  abandon(sessionId: string, n: number, piece: number): Incomplete | undefined {
    const group = this.#groups.get(sessionId);
    if (!group || (group.first.envelope.record.sequence === n && group.texts.length === piece)) return undefined;
    this.#groups.delete(sessionId);
    return incomplete(group);
  }

  /** Gives up everything that waits. */
  abandonAll(): Incomplete[] {
    const all = [...this.#groups.values()].map(incomplete);
    this.#groups.clear();
    return all;
  }
}

function incomplete(group: Group): Incomplete {
  const reason = `only ${group.texts.length} of ${group.of} pieces came`;
  const { pieces, first, texts } = group;
  return { pieces, last: pieces.at(-1) ?? first, text: texts.join(''), fault: { path: 'piece', reason } };
}
