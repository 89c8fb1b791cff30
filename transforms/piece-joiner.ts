import type { Fault } from '../client/index.js';
import type { Envelope } from './envelope.js';

/** Pieces of one body that have come so far. */
interface Group {
  readonly first: Envelope;
  readonly of: number;
  readonly texts: string[];
  lastOffset: number;
}

/** What a piece leads to: the whole body once it is complete, or a fault about pieces that will never be whole. */
export type Joined =
  | { readonly type: 'waiting' }
  | { readonly type: 'complete'; readonly first: Envelope; readonly text: string }
  | { readonly type: 'orphan'; readonly fault: Fault };

/** Pieces whose body never became whole. */
export interface Incomplete {
  /** Offset of the last piece that came. */
  readonly offset: number;
  readonly first: Envelope;
  readonly text: string;
  readonly fault: Fault;
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

  /** Length of everything that waits, UTF-16 units. */
  get length(): number {
    let length = 0;
    for (const group of this.#groups.values()) for (const text of group.texts) length += text.length;
    return length;
  }

  /** Takes the next piece of a session, after `abandon`. */
  add(envelope: Envelope, offset: number): Joined {
    const { sid, piece, body } = envelope.record;
    if (!piece) throw new TypeError('the record is not a piece');
    const group: Group =
      piece.i === 0
        ? { first: envelope, of: piece.of, texts: [], lastOffset: offset }
        : (this.#groups.get(sid) ?? { first: envelope, of: piece.of, texts: [], lastOffset: offset });
    if (group.texts.length !== piece.i || group.of !== piece.of) {
      const reason = `piece ${piece.i} of ${piece.of} came without the pieces before it`;
      return { type: 'orphan', fault: { path: 'piece', reason } };
    }
    group.texts.push(String(body));
    group.lastOffset = offset;
    if (group.texts.length < group.of) {
      this.#groups.set(sid, group);
      return { type: 'waiting' };
    }
    this.#groups.delete(sid);
    return { type: 'complete', first: group.first, text: group.texts.join('') };
  }

  /** Gives up what waits for the session, unless `n` continues it. */
  abandon(sid: string, n: number, piece: number): Incomplete | undefined {
    const group = this.#groups.get(sid);
    if (!group || (group.first.record.n === n && group.texts.length === piece)) return undefined;
    this.#groups.delete(sid);
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
  return {
    offset: group.lastOffset,
    first: group.first,
    text: group.texts.join(''),
    fault: { path: 'piece', reason },
  };
}
