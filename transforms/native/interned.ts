import { IdTable } from './id-table.js';
import type { Dictionary } from './key-column.js';
import { floatEntry, stringEntry } from './native-body.js';
import { PriceTable } from './price-table.js';

const EMPTY = stringEntry(new Uint8Array(0));
const ZERO = floatEntry(0);

/** Number of texts or prices above which the tables are replaced by empty ones between two batches, to limit memory. */
const MAX_ENTRIES = 500_000;

/** The IDs and prices of one partition, by number. */
export class Interned {
  readonly ids = new IdTable();
  readonly prices = new PriceTable();

  /** LowCardinality(String) over `ids`. */
  readonly texts: Dictionary = { reserved: [EMPTY], entry: (number) => stringEntry(this.ids.bytesOf(number)) };
  /** LowCardinality(Float64) over `prices`. */
  readonly floats: Dictionary = { reserved: [ZERO], entry: (number) => floatEntry(this.prices.valueOf(number)) };
  /** LowCardinality(Nullable(Float64)) over `prices`. */
  readonly nullableFloats: Dictionary = { reserved: [ZERO, ZERO], entry: this.floats.entry };

  /** Whether this should be replaced by an empty one. */
  get full(): boolean {
    return this.ids.size > MAX_ENTRIES || this.prices.size > MAX_ENTRIES;
  }
}
