import type { Reader } from './reader.js';
import type { Writer } from './writer.js';

/** One request of Kafka's protocol, in the one version that is used here, and the decoder of its response. */
export interface Request<T> {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  /** Flexible versions have tagged fields in the headers too. */
  readonly flexible: boolean;
  encode(writer: Writer): void;
  decode(reader: Reader): T;
  /** How long the broker may wait before it responds, milliseconds; added to the request timeout. */
  readonly waitMs?: number;
}
