import type { RawRecord } from '../../core/index.js';
import type { Privacy } from '../record/privacy.js';
import type { RecordOutput } from '../record/record-output.js';

/** A whole raw record of a known kind: pieces are joined, and the body is JSON that was parsed. */
export interface Received {
  readonly record: RawRecord;
  readonly body: unknown;
  /** The body's text: for dead letters, and for what must not pass through a double. */
  readonly bodyText: () => string;
  /** How usernames are stored. */
  readonly privacy: Privacy;
}

/**
 * Makes rows of one kind of record. Pure: what it adds to `output` depends on the record alone (and on how usernames
 * are stored), and it never throws, whatever the body holds; what it does not understand it adds as dead letters.
 */
export type Transform = (received: Received, output: RecordOutput) => void;
