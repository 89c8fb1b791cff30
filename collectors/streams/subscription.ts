/** Values of an event's markets: market ID → a text that is equal exactly when the values are. */
export type MarketValues = ReadonlyMap<string, string>;

/** What the exchange's own word says about ours: the same, something else, or nothing as yet. */
export type Verdict = 'same' | 'different' | 'unknown';

interface KnownValue {
  readonly value: string;
  readonly at: number;
}

/** What a collector knows about one subscribed event. All times are Unix microseconds. */
export class Subscription {
  /** The first state after subscribing has come, and nothing has cast doubt on it since. */
  live = false;
  /** When it was asked for. */
  askedAt: number;
  /** How often it was asked for since it last was live. */
  attempts = 0;
  /** When its last data came. */
  heardAt = 0;
  /** When the known values last were shown to be those of the exchange. */
  provenAt = 0;
  /** When a probe was sent that has not been answered. */
  probedAt: number | undefined;
  /** No probe before this. */
  notProbedBefore = 0;
  /** Values that the exchange told and that no change has brought: since when, and which. */
  suspect: { readonly since: number; readonly values: Map<string, string> } | undefined;
  readonly #known = new Map<string, KnownValue>();

  constructor(
    readonly eventId: string,
    /** Markets that event search names. */
    public marketIds: readonly string[],
    nowMicros: number,
  ) {
    this.askedAt = nowMicros;
  }

  /** Markets whose values are known. */
  get knownMarkets(): string[] {
    return [...this.#known.keys()];
  }

  knows(marketId: string): boolean {
    return this.#known.has(marketId);
  }

  /** The first state after subscribing. */
  begin(values: MarketValues, at: number): void {
    this.lose();
    this.live = true;
    this.attempts = 0;
    this.heardAt = at;
    this.provenAt = at;
    this.#known.clear();
    for (const [market, value] of values) this.#known.set(market, { value, at: 0 });
  }

  /** A change. */
  change(marketId: string, value: string, at: number): void {
    this.heardAt = at;
    this.#known.set(marketId, { value, at });
    const { suspect } = this;
    if (suspect?.values.get(marketId) !== value) return;
    // What the exchange told ahead of its change has arrived.
    suspect.values.delete(marketId);
    if (suspect.values.size > 0) return;
    this.suspect = undefined;
    this.provenAt = at;
  }

  /**
   * The exchange's own word on the event. Markets that are new to us are learnt.
   * @param settleMicros a change that is younger than this may not be in what the exchange told
   */
  compare(values: MarketValues, at: number, settleMicros: number): Verdict {
    this.heardAt = at;
    this.probedAt = undefined;
    const different = new Map<string, string>();
    let unsettled = false;
    for (const [market, value] of values) {
      const known = this.#known.get(market);
      if (known === undefined) this.#known.set(market, { value, at });
      else if (at - known.at < settleMicros) unsettled = true;
      else if (known.value !== value) different.set(market, value);
    }
    if (different.size > 0) {
      this.suspect ??= { since: at, values: different };
      return 'different';
    }
    this.suspect = undefined;
    if (unsettled) return 'unknown';
    this.provenAt = at;
    return 'same';
  }

  /** Nothing about it can be relied on until the next first state. */
  lose(): void {
    this.live = false;
    this.probedAt = undefined;
    this.suspect = undefined;
  }

  ask(nowMicros: number): void {
    this.lose();
    this.attempts += 1;
    this.askedAt = nowMicros;
  }
}
