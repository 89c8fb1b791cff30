import type { ValidationIssue } from '../../client/index.js';
import { type Envelope, memberText } from '../record/envelope.js';

/** A record with a valid envelope, and its bytes. */
export interface ReadRecord {
  readonly offset: number;
  readonly envelope: Envelope;
  readonly value: Buffer;
}

/** The pieces of one body that were received so far, at least one. */
interface Group {
  readonly first: ReadRecord;
  readonly of: number;
  /** Their texts are decoded again when they are joined: until then only the records are in memory. */
  readonly pieces: ReadRecord[];
  /** UTF-16 units of the texts. */
  textLength: number;
  /** Bytes of the records. */
  bytes: number;
}

/** The result of adding a piece: the body once it is complete, or a fault if it never will be. */
type Joined =
  | { readonly type: 'waiting' }
  | { readonly type: 'complete'; readonly pieces: readonly ReadRecord[]; readonly text: string }
  | { readonly type: 'orphan'; readonly fault: ValidationIssue };

/** Pieces of a body that was never complete. */
export interface Incomplete {
  /** In the order of receipt, at least one. */
  readonly pieces: readonly ReadRecord[];
  /** The last record. */
  readonly last: ReadRecord;
  /** The text, or its beginning of at least the length that the joiner was given. */
  readonly text: string;
  /** Length of the whole text, UTF-16 units. */
  readonly textLength: number;
  readonly fault: ValidationIssue;
}

/**
 * Joins the pieces of bodies that were too large for one bus record. The pieces of a session follow one another; records of
 * other sessions may be between them.
 */
export class PieceJoiner {
  readonly #groups = new Map<string, Group>();

  /** @param beginningLength how much of the text of an incomplete body is needed, UTF-16 units */
  constructor(private readonly beginningLength: number) {}

  /** Number of bodies that wait for more pieces. */
  get waiting(): number {
    return this.#groups.size;
  }

  /** Size of the waiting pieces, and of the text that they will become: bytes of the records, and UTF-16 units. */
  get length(): number {
    let length = 0;
    for (const { textLength, bytes } of this.#groups.values()) length += textLength + bytes;
    return length;
  }

  /** Adds the next piece of a session, after `abandon`. */
  add(read: ReadRecord): Joined {
    const { envelope, value } = read;
    const { sessionId, piece, body } = envelope.record;
    if (!piece) throw new TypeError('the record is not a piece');
    // The memory of a record's value is reused after its batch.
    const held: ReadRecord = {
      offset: read.offset,
      envelope: { ...envelope, record: { ...envelope.record, body: null } },
      value: Buffer.from(value),
    };
    const begun = piece.i === 0 ? undefined : this.#groups.get(sessionId);
    const group: Group = begun ?? { first: held, of: piece.of, pieces: [], textLength: 0, bytes: 0 };
    if (group.pieces.length !== piece.i || group.of !== piece.of) {
      const reason = `piece ${piece.i} of ${piece.of} was received without the pieces before it`;
      return { type: 'orphan', fault: { path: 'piece', reason } };
    }
    group.pieces.push(held);
    group.textLength += String(body).length;
    group.bytes += value.length;
    if (group.pieces.length < group.of) {
      this.#groups.set(sessionId, group);
      return { type: 'waiting' };
    }
    this.#groups.delete(sessionId);
    return { type: 'complete', pieces: group.pieces, text: group.pieces.map(textOf).join('') };
  }

  /** Removes the waiting pieces of the session, unless sequence `n` continues them. */
  abandon(sessionId: string, n: number, piece: number): Incomplete | undefined {
    const group = this.#groups.get(sessionId);
    if (!group || (group.first.envelope.record.sequence === n && group.pieces.length === piece)) return undefined;
    this.#groups.delete(sessionId);
    return this.#incomplete(group);
  }

  /** Removes all waiting pieces. */
  abandonAll(): Incomplete[] {
    const all = Array.from(this.#groups.values(), (group) => this.#incomplete(group));
    this.#groups.clear();
    return all;
  }

  #incomplete({ pieces, first, of, textLength }: Group): Incomplete {
    let text = '';
    for (let i = 0; i < pieces.length && text.length < this.beginningLength; i++) text += textOf(pieces[i] ?? first);
    const reason = `only ${pieces.length} of ${of} pieces were received`;
    return { pieces, last: pieces.at(-1) ?? first, text, textLength, fault: { path: 'piece', reason } };
  }
}

/** The text of a piece, which is a JSON string in its record. */
const textOf = ({ envelope, value }: ReadRecord): string => JSON.parse(memberText(envelope, 'body', value)) as string;
