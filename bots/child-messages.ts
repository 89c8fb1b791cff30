/*
 * What the process that starts the bots tells them, as lines of JSON on their standard input: nobody else can read it.
 * The first line is the handover, each later one is news. When the input ends, whoever started them is gone, and they
 * end too.
 */

export interface BotsSetup {
  /** Base address of the exchange. */
  readonly url: string;
  readonly seed: number;
  readonly pace: number;
  /** One bot each. */
  readonly accounts: readonly { readonly apiKey: string; readonly apiSecret: string }[];
}

/** What the informed know: the hidden chances, 0..1, as pairs of market ID and chance. */
export interface FairValues {
  readonly fair: readonly (readonly [string, number])[];
}
