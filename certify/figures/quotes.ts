import { isResult, midOf } from './book-prices.js';
import type { FiguresInput } from './input.js';

/** Stands for a figure of a moment at which trading was closed: what was observed then may still change. */
export const LATER = 'later';

/** The mid that was received last before a moment; null where it is not known to be the one of that moment. */
export interface Quote {
  readonly mid: number | null;
  /** Unix microseconds; null without a tick. */
  readonly receivedAt: number | null;
}

/** @param moment Unix microseconds */
export function quoteAt(
  { prices, observed }: Pick<FiguresInput, 'prices' | 'observed'>,
  event: string,
  market: string,
  moment: number,
): Quote {
  const tick = prices.at(market, moment);
  if (tick === undefined) return { mid: null, receivedAt: null };
  const { receivedAt } = tick;
  const isKnown = !isResult(tick) && observed.all(event, receivedAt, moment);
  return { mid: isKnown ? midOf(tick) : null, receivedAt };
}
