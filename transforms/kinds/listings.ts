import type { RawRecord } from '../../core/index.js';
import type { Listing } from '../tables/listing.js';
import { textIn } from './request-fields.js';

/**
 * When and where the entries of a response of reference data were listed, by their numbers among its valid entries, from 0.
 * To be called with increasing numbers.
 */
export function listingsOf({ receivedAt, request }: RawRecord): (number: number) => Listing {
  const poll = textIn(request, 'poll') ?? '';
  const unchanged: readonly unknown[] = Array.isArray(request['unchanged']) ? request['unchanged'] : [];
  let at = 0;
  return (number) => {
    while (at < unchanged.length && !(numberAt(unchanged[at], 'to') >= number)) at += 1;
    const since = numberAt(unchanged[at], 'since');
    const isUnchanged = numberAt(unchanged[at], 'from') <= number && since >= 0 && since <= receivedAt;
    return isUnchanged
      ? { receivedAt, poll, unchangedFrom: since, entry: 0 }
      : { receivedAt, poll, unchangedFrom: receivedAt, entry: number + 1 };
  };
}

/** A whole number of an object, else NaN. */
function numberAt(value: unknown, name: string): number {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return Number.isSafeInteger(found) ? (found as number) : Number.NaN;
}
