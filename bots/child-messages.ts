/*
 * Lines of JSON on the child's standard input, which no other process can read: first one `BotsSetup`, then any number of
 * `FairValues`. When the input ends, the parent is gone, and the child exits.
 */

export interface BotsSetup {
  /** Base address of the exchange. */
  readonly url: string;
  readonly seed: number;
  readonly pace: number;
  /** One bot each. */
  readonly accounts: readonly { readonly apiKey: string; readonly apiSecret: string }[];
}

/** For informed traders: pairs of market ID and hidden chance, 0..1. */
export interface FairValues {
  readonly fair: readonly (readonly [string, number])[];
}
