import type { RawRecord } from '../../core/index.js';
import type { Privacy } from '../record/privacy.js';
import type { RecordOutput } from '../record/record-output.js';

/** A complete raw record of a known kind: pieces are joined, and the body is parsed JSON. */
export interface Received {
  readonly record: RawRecord;
  readonly body: unknown;
  /** The body's text: for dead letters, and for numbers that must not be converted to doubles. */
  readonly bodyText: () => string;
  /** How usernames are stored. */
  readonly privacy: Privacy;
}

/**
 * Transforms one kind of record into rows. Pure: what it adds to `output` depends on the record alone (and on how usernames
 * are stored). Never throws, for any body: parts that it does not understand become dead letters.
 */
export type Transform = (received: Received, output: RecordOutput) => void;
