/** IDs kept from either end of a walk: one that is met again is enough, more survive records that disappear. */
const KEPT = 500;

/**
 * Records of a history that are on the bus with all older ones: where a walk from the front may stop. What a walk meets
 * counts only once it has come to its end.
 */
export class KnownRecords {
  #known: ReadonlySet<string>;
  #first: string[] = [];
  #last: string[] = [];
  #met = 0;

  constructor(ids: Iterable<string>) {
    this.#known = new Set(ids);
  }

  /** Newest first, roughly. */
  get ids(): readonly string[] {
    return [...this.#known];
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Records that the last finished walk met for the first time. */
  get lastNew(): number {
    return this.#met;
  }

  begin(): void {
    this.#first = [];
    this.#last = [];
    this.#met = 0;
  }

  /** A walk meets a record; true when it and all older ones are known. */
  meet(id: string): boolean {
    const known = this.#known.has(id);
    if (!known) this.#met += 1;
    if (this.#first.length < KEPT) this.#first.push(id);
    // A long walk looks at the front again in the end.
    else if (this.#last.push(id) >= 2 * KEPT) this.#last = this.#last.slice(-KEPT);
    return known;
  }

  /** The walk has come to its end and everything that it met is on the bus. */
  commit(): void {
    const met = [...this.#last.slice(-KEPT), ...this.#first];
    this.#known = new Set([...met, ...this.#known].slice(0, 2 * KEPT));
  }
}
