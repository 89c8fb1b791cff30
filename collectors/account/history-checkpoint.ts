/** Number of IDs stored from each end of a walk. One that is found again is enough; more of them allow for records that
disappear. */
const STORED_IDS = 500;

/**
 * Records of a history that are on the bus, as are all older ones: a walk from the newest record may stop at the first of
 * them. Records that a walk visits are added by `commit`.
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

  /** Visits a record; true when it and all older ones are on the bus. */
  visit(id: string): boolean {
    const known = this.#ids.has(id);
    if (!known) this.#newRecords += 1;
    if (this.#first.length < STORED_IDS) this.#first.push(id);
    // After a long walk the newest records are read again.
    else if (this.#last.push(id) >= 2 * STORED_IDS) this.#last = this.#last.slice(-STORED_IDS);
    return known;
  }

  /** Call when the walk is complete and everything it visited is on the bus. */
  commit(): void {
    const visited = [...this.#last.slice(-STORED_IDS), ...this.#first];
    this.#ids = new Set([...visited, ...this.#ids].slice(0, 2 * STORED_IDS));
  }
}
