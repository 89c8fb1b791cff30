import type { Envelope, Position } from './ledger-rows.js';

interface Outcome {
  /** The record, or the joined pieces that end with it. */
  whole(record: Envelope): void;
  /** The pieces up to this offset will never be complete. */
  never(offset: number): void;
}

/** Joins the pieces of bodies on one partition; the pieces of a session follow one another. */
export class LedgerPieces {
  readonly #begun = new Map<string, { readonly n: number; readonly texts: string[]; offset: number }>();

  add({ offset }: Position, record: Envelope, outcome: Outcome): void {
    const { sid, n, piece } = record;
    const begun = this.#begun.get(sid);
    if (begun && begun.n !== n) {
      this.#begun.delete(sid);
      outcome.never(begun.offset);
    }
    if (!piece) {
      outcome.whole(record);
      return;
    }
    const group = begun?.n === n ? begun : { n, texts: [], offset };
    if (group.texts.length !== piece.i) {
      outcome.never(offset);
      return;
    }
    group.texts.push(String(record.body));
    group.offset = offset;
    if (group.texts.length < piece.of) {
      this.#begun.set(sid, group);
      return;
    }
    this.#begun.delete(sid);
    outcome.whole({ ...record, body: JSON.parse(group.texts.join('')) });
  }
}
