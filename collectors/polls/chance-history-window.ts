/** Maximum number of points in one response (part 8 documents no limit; known limits are at or above this). */
export const MAX_POINTS = 10_000;
/** A window has no more periods than a response has points, until responses show that there are fewer points. */
const SAFE_PERIODS = MAX_POINTS - 1;
const MAX_GROWTH = 512;

const SECONDS: Readonly<Record<string, number>> = {
  '1s': 1,
  '5s': 5,
  '5M': 300,
  '10M': 600,
  '30M': 1800,
  '1H': 3600,
  '3H': 3 * 3600,
  '4H': 4 * 3600,
  '6H': 6 * 3600,
  '1d': 86_400,
  '7d': 7 * 86_400,
  '1m': 31 * 86_400,
};

/** Seconds of a period code of part 6.2, or of a number of seconds as text; of a month, the longest. */
export const periodSeconds = (period: string): number => SECONDS[period] ?? Number(period);

/** The last end of a period up to `at`: only complete periods are requested. Unix seconds. */
export function periodEnd(period: string, at: number): number {
  if (period !== '1m') return Math.floor(at / periodSeconds(period)) * periodSeconds(period);
  const date = new Date(at * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000;
}

/**
 * The range of one request. It starts with a number of periods that cannot exceed the cap, grows while responses are
 * nearly empty, and shrinks when they are not or when the exchange rejects the request.
 */
export class ChanceHistoryWindow {
  readonly #period: number;
  #seconds: number;

  constructor(period: string) {
    this.#period = periodSeconds(period);
    this.#seconds = SAFE_PERIODS * this.#period;
  }

  /** Seconds that the next request may cover. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Whether a response with this number of points may be truncated. */
  mayBeTruncated(points: number): boolean {
    return points >= MAX_POINTS;
  }

  answered(points: number): void {
    if (points < MAX_POINTS / 10) this.#seconds = Math.min(this.#seconds * 4, SAFE_PERIODS * this.#period * MAX_GROWTH);
    else if (points > MAX_POINTS / 2) this.#halve();
  }

  /** Call when the range was too large; false when it cannot be smaller. */
  shrink(): boolean {
    if (this.#seconds <= this.#period) return false;
    this.#halve();
    return true;
  }

  #halve(): void {
    this.#seconds = Math.max(this.#period, Math.floor(this.#seconds / 2 / this.#period) * this.#period);
  }
}
