import { z } from 'zod';
import type { balanceSchema } from './account-records.js';
import { decimalSchema } from './decimal.js';
import { idSchema } from './scalars.js';

/** Messages that the server sends on the order updates stream, part 6.3. */
export const ORDER_STREAM_SERVER_TYPES = ['success', 'error', 'ORDER_UPDATE', 'TPSL_UPDATE', 'PING'] as const;

const text = z.string().nullish();
const amount = decimalSchema.nullish();

/** `d` of ORDER_UPDATE. */
export const orderUpdateSchema = z.looseObject({ i: idSchema, u: text, s: text });

/** `d` of TPSL_UPDATE. */
export const tpslUpdateSchema = z.looseObject({
  i: idSchema,
  u: text,
  a: text,
  q: amount,
  tpp: amount,
  slp: amount,
  s: text,
});

/** A balance update, part 6.4: the message itself, as the sample has no `t`. */
export const balanceUpdateSchema = z.looseObject({
  u: text,
  a: idSchema,
  aop: amount,
  c: amount,
  b: decimalSchema,
  f: amount,
});

/** `d` of the balance stream's answer to AUTH: the current balances. */
export const balanceListSchema = z.looseObject({ l: z.array(z.unknown()) });

export type OrderUpdateWire = z.input<typeof orderUpdateSchema>;
export type TpslUpdateWire = z.input<typeof tpslUpdateSchema>;
export type BalanceUpdateWire = z.input<typeof balanceUpdateSchema>;
export type OrderStreamMessageWire =
  | { readonly t: 'success'; readonly d: 'authorized'; readonly r: null }
  | { readonly t: 'error'; readonly d: { readonly error: string } }
  | { readonly t: 'ORDER_UPDATE'; readonly d: OrderUpdateWire; readonly r?: null }
  | { readonly t: 'TPSL_UPDATE'; readonly d: TpslUpdateWire; readonly r?: null }
  | { readonly t: 'PING'; readonly d: null; readonly r: null };
export type BalanceStreamMessageWire =
  | { readonly t: 'success'; readonly d: { readonly l: readonly z.input<typeof balanceSchema>[] }; readonly r: null }
  | { readonly t: 'error'; readonly d: { readonly error: string } }
  | BalanceUpdateWire;
