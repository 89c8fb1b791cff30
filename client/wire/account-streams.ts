import { z } from 'zod';
import { decimalSchema } from './decimal.js';
import { idSchema } from './scalars.js';

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

/** A balance update, part 6.4: the complete message, as the sample has no `t`. */
export const balanceUpdateSchema = z.looseObject({
  u: text,
  a: idSchema,
  aop: amount,
  c: amount,
  b: decimalSchema,
  f: amount,
});

export type TpslUpdateWire = z.input<typeof tpslUpdateSchema>;
export type BalanceUpdateWire = z.input<typeof balanceUpdateSchema>;
