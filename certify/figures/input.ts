import type { MatchedChances } from '../compare/chances.js';
import type { ShownPrice } from '../compare/prices.js';
import type { RecordedAccounts, RecordedStreams } from '../recorded.js';
import type { Ledger, UsedFault } from '../truth.js';
import type { Unlisted } from '../unlisted.js';
import type { BookPrices, Observed } from './book-prices.js';
import type { AccountAsset } from './books.js';
import { type Figures, SHORT } from './questions.js';
import { periodOf } from './texts.js';

/** What was recorded, and the ledger. */
export interface Recording {
  readonly ledger: Ledger;
  readonly accounts: RecordedAccounts;
  readonly streams: Pick<RecordedStreams, 'observed' | 'gaps'>;
  /** As in `MatchedPrices`. */
  readonly shown: ReadonlyMap<string, readonly ShownPrice[]>;
  readonly chances: Pick<MatchedChances, 'changes' | 'missed'>;
  readonly figures: Figures;
  readonly faults: readonly UsedFault[];
  /** Unix microseconds. */
  readonly recordedFrom: number;
  readonly closedAt: number;
}

/** What the figures follow from. */
export interface FiguresInput extends Omit<Recording, 'streams'> {
  readonly prices: BookPrices;
  readonly observed: Observed;
  readonly gaps: RecordedStreams['gaps'];
  readonly assets: readonly AccountAsset[];
  readonly unlisted: Unlisted;
  /** Event and opening chance, by market. */
  readonly events: ReadonlyMap<string, string>;
  readonly openingChances: ReadonlyMap<string, number>;
  readonly times: { readonly from: number; readonly to: number };
}

/** The time range in which figures over time are compared, Unix seconds: from a while before the recording to the last whole period. */
export const timesOf = ({ recordedFrom, closedAt }: Pick<Recording, 'recordedFrom' | 'closedAt'>) => ({
  from: periodOf(recordedFrom / 1_000_000, SHORT),
  to: periodOf(closedAt / 1_000_000, SHORT),
});
