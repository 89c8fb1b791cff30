/** What was done to whom, and how often. */
export class Tally {
  readonly #counts = new Map<string, number>();
  #kills = 0;
  /** Called after each kill. */
  onKill: () => void = () => undefined;

  constructor(private readonly say: (line: string) => void) {}

  /** How many processes were killed so far. */
  get kills(): number {
    return this.#kills;
  }

  /** Counts by what was done, in the order in which they first happened. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Tells what is not counted. */
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
