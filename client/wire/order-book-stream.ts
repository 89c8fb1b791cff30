import { z } from 'zod';
import { idSchema, probabilitySchema } from './scalars.js';

/** Messages that a client sends on the order book stream, part 6.1. */
const ORDER_BOOK_CLIENT_TYPES = ['SUBSCRIBE', 'UNSUBSCRIBE', 'REQUEST_DATA'] as const;

export const orderBookClientMessageSchema = z.looseObject({ t: z.enum(ORDER_BOOK_CLIENT_TYPES), e: idSchema });

/** Envelope of every message: any `t` is accepted here. */
export const orderBookEnvelopeSchema = z.looseObject({
  t: z.string(),
  e: z.string().nullish(),
  d: z.unknown().optional(),
  r: z.string().nullish(),
});

/** One entry of `d` in PRICES_DATA and PRICES_DATA_DELTA, part 2. */
export const priceEntrySchema = z.looseObject({
  o: idSchema,
  c: probabilitySchema,
  b: probabilitySchema,
  a: probabilitySchema,
});

/** PRICES_DATA and PRICES_DATA_DELTA; entries of `d` are checked one by one with `priceEntrySchema`. */
export const pricesMessageSchema = z.looseObject({
  t: z.enum(['PRICES_DATA', 'PRICES_DATA_DELTA']),
  e: idSchema,
  d: z.array(z.unknown()),
});
export type OrderBookClientMessageWire = z.input<typeof orderBookClientMessageSchema>;
