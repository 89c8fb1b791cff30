/** First range of an event, seconds: the poll of chance history fetches older points. */
const FIRST_RANGE_S = 60;
/**
 * How far a range begins before the previous request, seconds: changes may appear in history later than on the stream, and
 * the exchange's clock may be behind ours.
 */
const OVERLAP_S = 20;
/** A range ends this much after the present, seconds: the exchange's clock may be ahead of ours. */
const AHEAD_S = 60;
/** Maximum range, seconds. What happened before is in a gap, which the poll of chance history backfills. */
const MAX_RANGE_S = 600;

/** The range of a request of chance history, Unix seconds. */
export interface HistoryRange {
  readonly event: string;
  readonly from: number;
  readonly to: number;
}

interface RequestedRange {
  readonly range: HistoryRange;
  /** Unix seconds. */
  readonly at: number;
}

/** Which range of raw chance history is requested next, so that the responses for an event together have every second. */
export class HistoryRanges {
  /** Time of the last request that was answered, Unix seconds. */
  readonly #requestedAt = new Map<string, number>();
  #pending: RequestedRange | undefined;
  /** Of requests that timed out, and whose response may still be received. */
  readonly #late = new Map<string, RequestedRange>();

  /** The range to request now; a response is expected until the next call. @param nowS Unix seconds */
  next(event: string, nowS: number): HistoryRange {
    const last = this.#requestedAt.get(event) ?? nowS - FIRST_RANGE_S + OVERLAP_S;
    const from = Math.floor(Math.max(nowS - MAX_RANGE_S, last - OVERLAP_S));
    const range = { event, from, to: Math.ceil(nowS) + AHEAD_S };
    this.#pending = { range, at: nowS };
    return range;
  }

  /** The range that a response is expected for. */
  get pending(): HistoryRange | undefined {
    return this.#pending?.range;
  }

  /** The range that a response about an event has, if one is expected for it, and whether its request had timed out. */
  responseOf(event: string): { readonly range: HistoryRange; readonly late: boolean } | undefined {
    const late = this.#late.get(event);
    const found = late ?? (this.#pending?.range.event === event ? this.#pending : undefined);
    return found && { range: found.range, late: late !== undefined };
  }

  /** Call with the response. Returns the time since the previous answered request of the event, seconds, if there was one. */
  onResponse(event: string): number | undefined {
    const requested = this.#late.get(event) ?? this.#pending;
    if (requested?.range.event !== event) return undefined;
    if (!this.#late.delete(event)) this.#pending = undefined;
    const last = this.#requestedAt.get(event);
    this.#requestedAt.set(event, requested.at);
    return last === undefined ? undefined : requested.at - last;
  }

  /** Call when the request of a range failed. @param late whether its response may still be received on this connection */
  cancel(range: HistoryRange, late: boolean): void {
    if (this.#pending?.range !== range) return;
    if (late) this.#late.set(range.event, this.#pending);
    this.#pending = undefined;
  }

  /** Call when a connection was opened: late responses of the previous one will not be received. */
  onConnected(): void {
    this.#late.clear();
  }

  remove(event: string): void {
    this.#requestedAt.delete(event);
    this.#late.delete(event);
  }
}
