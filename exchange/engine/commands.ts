import type { ApiKeyRecord, Outcome, Side } from './types.js';

/*
 * Every change of the exchange is one command: checked, appended to the journal, then applied. Applying the same commands
 * to the same state always gives the same state. Accounts, markets and orders are referred to by their numbers.
 */

/** The kind of an account that the exchange opened from its seed. */
export type SeededAs = 'account' | 'bot';

export interface BeginCommand {
  readonly do: 'begin';
  readonly at: number;
  readonly seed: number;
  readonly takerFeeBps: number;
}

export interface OpenAccountCommand {
  readonly do: 'open-account';
  readonly at: number;
  readonly email: string;
  readonly username: string | null;
  readonly passwordHash: string;
  readonly otp: boolean;
  readonly deposit: number;
  readonly apiKey: ApiKeyRecord | null;
  readonly seededAs: SeededAs | null;
}

export interface OpenEventCommand {
  readonly do: 'open-event';
  readonly at: number;
  readonly title: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly featured: boolean;
  readonly closesAt: number;
  readonly markets: readonly { readonly name: string; readonly chance: number }[];
}

export interface LimitCommand {
  readonly do: 'limit';
  readonly at: number;
  readonly account: number;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly quantity: number;
}

export interface MarketCommand {
  readonly do: 'market';
  readonly at: number;
  readonly account: number;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: Side;
  /** For a SELL, hundredths; 0 for a BUY. */
  readonly quantity: number;
  /** For a BUY, micros; 0 for a SELL. */
  readonly amount: number;
}

export interface TpslCommand {
  readonly do: 'tpsl';
  readonly at: number;
  readonly account: number;
  readonly market: number;
  readonly outcome: Outcome;
  readonly quantity: number;
  readonly takeProfit: number | null;
  readonly stopLoss: number | null;
}

export type AccountCommand =
  | OpenAccountCommand
  | { readonly do: 'deposit' | 'withdraw'; readonly at: number; readonly account: number; readonly amount: number }
  | { readonly do: 'set-key'; readonly at: number; readonly account: number; readonly key: ApiKeyRecord | null }
  | {
      readonly do: 'set-code';
      readonly at: number;
      readonly account: number;
      readonly code: { readonly code: string; readonly expiresAt: number } | null;
    }
  | { readonly do: 'block-key'; readonly at: number; readonly account: number };

export type Command =
  | { readonly do: 'configure'; readonly at: number; readonly takerFeeBps: number }
  | AccountCommand
  | OpenEventCommand
  | { readonly do: 'resolve'; readonly at: number; readonly market: number; readonly winner: Outcome }
  | LimitCommand
  | MarketCommand
  | { readonly do: 'cancel'; readonly at: number; readonly order: number }
  | TpslCommand
  | { readonly do: 'cancel-tpsl'; readonly at: number; readonly tpsl: number };
