import type { Reader } from './reader.js';
import type { Writer } from './writer.js';

/** One request of Kafka's protocol in the one version that is spoken here, and how its answer is read. */
export interface Request<T> {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  /** Flexible versions have tagged fields in the headers too. */
  readonly flexible: boolean;
  encode(writer: Writer): void;
  decode(reader: Reader): T;
  /** How long the broker may take by the request's own meaning, milliseconds; added to the connection's patience. */
  readonly waitMs?: number;
}

/** The oldest version of each request that is spoken here, by key: what a broker must offer. */
export type RequestVersions = ReadonlyMap<number, { readonly name: string; readonly version: number }>;
