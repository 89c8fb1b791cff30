import { IdTable } from './id-table.js';
import type { Dictionary } from './key-column.js';
import { floatEntry, stringEntry } from './native-body.js';
import { PriceTable } from './price-table.js';

const EMPTY = stringEntry(new Uint8Array(0));
const ZERO = floatEntry(0);

/** More than this many texts or prices are forgotten together, between two batches: memory stays bounded. */
const MOST = 500_000;

/** IDs and prices met so far, by number. Belongs to one partition. */
export class Interned {
  readonly ids = new IdTable();
  readonly prices = new PriceTable();

  /** LowCardinality(String) over `ids`. */
  readonly texts: Dictionary = { reserved: [EMPTY], entry: (number) => stringEntry(this.ids.bytesOf(number)) };
  /** LowCardinality(Float64) over `prices`. */
  readonly floats: Dictionary = { reserved: [ZERO], entry: (number) => floatEntry(this.prices.valueOf(number)) };
  /** LowCardinality(Nullable(Float64)) over `prices`. */
  readonly nullableFloats: Dictionary = { reserved: [ZERO, ZERO], entry: this.floats.entry };

  /** Whether it is time to start over with an empty one. */
  get full(): boolean {
    return this.ids.size > MOST || this.prices.size > MOST;
  }
}
