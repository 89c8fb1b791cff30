import { z } from 'zod';
import { decimalSchema } from './decimal.js';
import { instantSchema } from './instant.js';
import { idSchema, numericSchema } from './scalars.js';

// Records of wallets, activity and statistics, part 2, with the rules of order-records.ts.

const text = z.string().nullish();
const flag = z.boolean().nullish();
const amount = decimalSchema.nullish();
const instant = instantSchema.nullish();

export const transactionSchema = z.looseObject({
  i: idSchema,
  u: text,
  a: text,
  eq: text,
  ei: text,
  es: text,
  on: text,
  tn: text,
  ip: flag,
  t: text,
  am: decimalSchema,
  s: text,
  cat: instant,
  e: text,
  f: amount,
  ta: text,
  bu: text,
  bn: text,
});

/**
 * A balance, as the balance stream sends it (part 2). The response of `GET /api/user-balances` is not described; `/full`
 * may add `n`, `sn` and `v`: name, ticker and value in USDC.
 */
export const balanceSchema = z.looseObject({
  i: idSchema,
  b: decimalSchema,
  f: amount,
  n: text,
  sn: text,
  v: amount,
});

export const depositAddressSchema = z.looseObject({ i: text, a: z.string().min(1) });

/** One item of the activity feed of all users. */
export const activitySchema = z.looseObject({
  u: text,
  tra: idSchema,
  n: text,
  oi: text,
  on: text,
  p: text,
  si: text,
  q: decimalSchema,
  x: instant,
  eq: text,
  ei: text,
  es: text,
  tn: text,
  ip: flag,
  pr: decimalSchema,
  ev: amount,
  uv: amount,
});

export const profileStatsSchema = z.looseObject({
  profile: z.looseObject({ userId: idSchema, username: text, joinedAt: instant, me: flag }),
  cards: z
    .looseObject({ positionValue: amount, volumeTraded: amount, marketsTraded: numericSchema.nullish() })
    .nullish(),
});

export const positionStatsSchema = z.looseObject({
  tab: text,
  ti: numericSchema.nullish(),
  od: instant,
  cd: instant,
});

export type TransactionWire = z.input<typeof transactionSchema>;
export type BalanceWire = z.input<typeof balanceSchema>;
export type DepositAddressWire = z.input<typeof depositAddressSchema>;
export type ActivityWire = z.input<typeof activitySchema>;
export type ProfileStatsWire = z.input<typeof profileStatsSchema>;
export type PositionStatsWire = z.input<typeof positionStatsSchema>;
