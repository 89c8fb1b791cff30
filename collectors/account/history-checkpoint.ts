/** IDs stored from each end of a walk: one that is seen again is enough, more of them survive records that disappear. */
const STORED = 500;

/**
 * Records of a history that are on the bus with all older ones: a walk from the newest record may stop at the first of
 * them. What a walk visits counts only after `commit`.
 */
export class HistoryCheckpoint {
  #ids: ReadonlySet<string>;
  #first: string[] = [];
  #last: string[] = [];
  #newRecords = 0;

  constructor(ids: Iterable<string>) {
    this.#ids = new Set(ids);
  }

  /** Newest first, roughly. */
  get ids(): readonly string[] {
    return [...this.#ids];
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** Records that the latest walk visited and that were not in the checkpoint. */
  get newRecords(): number {
    return this.#newRecords;
  }

  startWalk(): void {
    this.#first = [];
    this.#last = [];
    this.#newRecords = 0;
  }

  /** A walk visits a record; true when it and all older ones are on the bus. */
  visit(id: string): boolean {
    const known = this.#ids.has(id);
    if (!known) this.#newRecords += 1;
    if (this.#first.length < STORED) this.#first.push(id);
    // A long walk reads the newest records again in the end.
    else if (this.#last.push(id) >= 2 * STORED) this.#last = this.#last.slice(-STORED);
    return known;
  }

  /** The walk is complete, and everything that it visited is on the bus. */
  commit(): void {
    const visited = [...this.#last.slice(-STORED), ...this.#first];
    this.#ids = new Set([...visited, ...this.#ids].slice(0, 2 * STORED));
  }
}
