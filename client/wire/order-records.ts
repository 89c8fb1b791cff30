import { z } from 'zod';
import { decimalSchema } from './decimal.js';
import { instantSchema } from './instant.js';
import { idSchema } from './scalars.js';

// Records of orders, trades and positions, part 2. IDs and the main amounts are required; all other fields are optional.
// For bodies of `parseLossless`: amounts are decimals.

const text = z.string().nullish();
const flag = z.boolean().nullish();
const amount = decimalSchema.nullish();
const instant = instantSchema.nullish();

/** An element of the open-positions page. */
export const openPositionSchema = z.looseObject({
  oi: text,
  ei: text,
  eoi: text,
  ai: idSchema,
  et: text,
  eic: text,
  es: text,
  eim: text,
  on: text,
  tn: text,
  ip: flag,
  tsc: decimalSchema,
  asc: amount,
  sp: amount,
  c: amount,
  cp: amount,
  v: amount,
  tpsl: z.array(z.unknown()).nullish(),
  pv: amount,
  pp: amount,
  od: instant,
});

/** An element of the active-orders page. */
export const activeOrderSchema = z.looseObject({
  id: idSchema,
  status: text,
  side: text,
  price: amount,
  quantity: decimalSchema,
});

export const orderRecordSchema = z.looseObject({
  i: idSchema,
  u: text,
  e: text,
  o: text,
  a: text,
  oq: amount,
  si: text,
  t: text,
  p: amount,
  m: instant,
  ex: instant,
  st: text,
  q: amount,
});

export const tradeRecordSchema = z.looseObject({
  i: idSchema,
  t: text,
  u: text,
  or: text,
  s: text,
  e: text,
  o: text,
  a: text,
  q: decimalSchema,
  p: decimalSchema,
  f: amount,
  m: instant,
});

/** A TP/SL order of `GET /orders/tpsl`, and of an open position. */
export const tpslOrderSchema = z.looseObject({ i: idSchema, q: amount, tpp: amount, slp: amount });

export type OpenPositionWire = z.input<typeof openPositionSchema>;
export type ActiveOrderWire = z.input<typeof activeOrderSchema>;
export type OrderRecordWire = z.input<typeof orderRecordSchema>;
export type TradeRecordWire = z.input<typeof tradeRecordSchema>;
export type TpslOrderWire = z.input<typeof tpslOrderSchema>;
