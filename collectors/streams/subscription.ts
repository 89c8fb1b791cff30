/** Values of an event's markets: market ID → a text that is equal exactly when the values are. */
export type MarketValues = ReadonlyMap<string, string>;

/** What the exchange's own statement says about the values that we know. */
export type Comparison = 'same' | 'different' | 'undecided';

interface KnownValue {
  readonly value: string;
  readonly at: number;
}

/** What a collector knows about one subscribed event. All times are Unix microseconds. */
export class Subscription {
  /** The first state after subscribing was received, and everything since is known to be complete. */
  live = false;
  /** When the subscription was requested. */
  requestedAt: number;
  /** How often it was requested since it was last live. */
  attempts = 0;
  /** When its last data was received. */
  receivedAt = 0;
  /** When the known values were last shown to be those of the exchange. */
  verifiedAt = 0;
  /** When a probe was sent that has not been answered. */
  probedAt: number | undefined;
  /** No probe before this. */
  notProbedBefore = 0;
  /** Values that the exchange stated and that no change has brought. */
  mismatch: { readonly since: number; readonly values: Map<string, string> } | undefined;
  readonly #known = new Map<string, KnownValue>();

  constructor(
    readonly eventId: string,
    /** Markets that event search lists. */
    public marketIds: readonly string[],
    nowMicros: number,
  ) {
    this.requestedAt = nowMicros;
  }

  /** Markets whose values are known. */
  get knownMarkets(): string[] {
    return [...this.#known.keys()];
  }

  knows(marketId: string): boolean {
    return this.#known.has(marketId);
  }

  /** The first state after subscribing. */
  confirm(values: MarketValues, at: number): void {
    this.invalidate();
    this.live = true;
    this.attempts = 0;
    this.receivedAt = at;
    this.verifiedAt = at;
    this.#known.clear();
    for (const [market, value] of values) this.#known.set(market, { value, at: 0 });
  }

  change(marketId: string, value: string, at: number): void {
    this.receivedAt = at;
    this.#known.set(marketId, { value, at });
    const { mismatch } = this;
    if (mismatch?.values.get(marketId) !== value) return;
    // The exchange had stated it ahead of its change.
    mismatch.values.delete(marketId);
    if (mismatch.values.size > 0) return;
    this.mismatch = undefined;
    this.verifiedAt = at;
  }

  /**
   * Compares with the exchange's own statement. Markets that were not known are added.
   * @param answerLagMicros the statement may not contain changes younger than this
   */
  compare(values: MarketValues, at: number, answerLagMicros: number): Comparison {
    this.receivedAt = at;
    this.probedAt = undefined;
    const different = new Map<string, string>();
    let undecided = false;
    for (const [market, value] of values) {
      const known = this.#known.get(market);
      if (known === undefined) this.#known.set(market, { value, at });
      else if (at - known.at < answerLagMicros) undecided = true;
      else if (known.value !== value) different.set(market, value);
    }
    if (different.size > 0) {
      this.mismatch ??= { since: at, values: different };
      return 'different';
    }
    this.mismatch = undefined;
    if (undecided) return 'undecided';
    this.verifiedAt = at;
    return 'same';
  }

  /** Nothing about it can be relied on until the next first state. */
  invalidate(): void {
    this.live = false;
    this.probedAt = undefined;
    this.mismatch = undefined;
  }

  /** The subscription is requested again. */
  request(nowMicros: number): void {
    this.invalidate();
    this.attempts += 1;
    this.requestedAt = nowMicros;
  }
}
