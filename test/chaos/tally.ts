/** Counts of injected faults by kind. */
export class Tally {
  readonly #counts = new Map<string, number>();
  #kills = 0;
  /** Called after each kill. */
  onKill: () => void = () => undefined;

  constructor(private readonly say: (line: string) => void) {}

  /** Number of processes killed so far. */
  get kills(): number {
    return this.#kills;
  }

  /** Counts by kind, in the order of the first occurrence. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Reports an event that is not counted. */
  tell(what: string): void {
    this.say(what);
  }

  killed(what: string): void {
    this.#kills += 1;
    this.count(`kill -9 of ${what}`);
    this.onKill();
  }

  count(what: string, about = ''): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
    this.say(`${what}${about && ` (${about})`}`);
  }
}
