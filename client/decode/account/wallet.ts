import { balanceSchema, depositAddressSchema, transactionSchema } from '../../wire/account-records.js';
import type { Decimal } from '../../wire/decimal.js';
import type { LosslessJson } from '../../wire/json-number.js';
import type { DecodedList, InvalidBody } from '../result.js';
import { decodeRecord, decodeRecords, isRecord } from './records.js';

/** A balance of an asset: USDC, or shares of an outcome. Absent fields are null. */
export interface Balance {
  readonly assetId: string;
  readonly balance: Decimal;
  /** The amount that is not locked by orders. */
  readonly free: Decimal | null;
  /** These three are not documented for the plain response; the full one may have them. */
  readonly name: string | null;
  readonly ticker: string | null;
  /** USDC. */
  readonly value: Decimal | null;
}

/** The list of `GET /api/user-balances` and `/full`, part 4.3, whose form is not documented; also `{l:[…]}` as on the stream. */
export function decodeBalances(body: LosslessJson): DecodedList<Balance> | InvalidBody {
  const value: unknown = body;
  const list: unknown = isRecord(value) && Array.isArray(value['l']) ? value['l'] : value;
  return decodeRecords(list as LosslessJson, balanceSchema, balanceOf);
}

export const balanceOf = (wire: ReturnType<typeof balanceSchema.parse>): Balance => ({
  assetId: wire.i,
  balance: wire.b,
  free: wire.f ?? null,
  name: wire.n ?? null,
  ticker: wire.sn ?? null,
  value: wire.v ?? null,
});

/** A deposit address for USDC. */
export interface DepositAddress {
  readonly assetId: string | null;
  /** Address on the blockchain. */
  readonly address: string;
}

/** The response of `GET /api/deposit/usdc-address`, part 4.3. */
export function decodeDepositAddress(body: LosslessJson): DecodedList<DepositAddress> | InvalidBody {
  return decodeRecord(
    body,
    depositAddressSchema,
    (wire): DepositAddress => ({ assetId: wire.i ?? null, address: wire.a }),
  );
}

/** A movement of money. Absent fields are null. */
export interface Transaction {
  readonly transactionId: string;
  readonly userId: string | null;
  readonly assetId: string | null;
  readonly eventQuestion: string | null;
  readonly eventIconUrl: string | null;
  readonly eventSlug: string | null;
  readonly outcomeName: string | null;
  readonly tokenName: string | null;
  readonly primary: boolean | null;
  readonly transactionType: string | null;
  readonly amount: Decimal;
  readonly status: string | null;
  readonly createdAtMicros: number | null;
  readonly externalTransactionId: string | null;
  readonly fee: Decimal | null;
  readonly withdrawalAddress: string | null;
  readonly blockchainUrl: string | null;
  readonly blockchainName: string | null;
}

/** The list of `GET /api/transactions`, part 4.3, whose wrapper is not documented. */
export function decodeTransactions(body: LosslessJson): DecodedList<Transaction> | InvalidBody {
  return decodeRecords(
    body,
    transactionSchema,
    (wire): Transaction => ({
      transactionId: wire.i,
      userId: wire.u ?? null,
      assetId: wire.a ?? null,
      eventQuestion: wire.eq ?? null,
      eventIconUrl: wire.ei ?? null,
      eventSlug: wire.es ?? null,
      outcomeName: wire.on ?? null,
      tokenName: wire.tn ?? null,
      primary: wire.ip ?? null,
      transactionType: wire.t ?? null,
      amount: wire.am,
      status: wire.s ?? null,
      createdAtMicros: wire.cat ?? null,
      externalTransactionId: wire.e ?? null,
      fee: wire.f ?? null,
      withdrawalAddress: wire.ta ?? null,
      blockchainUrl: wire.bu ?? null,
      blockchainName: wire.bn ?? null,
    }),
  );
}
