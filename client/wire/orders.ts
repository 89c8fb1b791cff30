import { z } from 'zod';
import { idSchema } from './scalars.js';

/** Sides of an order, part 4.2. */
export const SIDES = ['BUY', 'SELL'] as const;
export type Side = (typeof SIDES)[number];

/** Minimum price of limit and TP/SL orders, part 8. */
export const MIN_PRICE = 0.01;
/** Maximum price of limit and TP/SL orders, part 8. */
export const MAX_PRICE = 0.99;

const priceSchema = z.number().min(MIN_PRICE).max(MAX_PRICE);
const target = { e: idSchema, o: idSchema, ba: idSchema, qa: idSchema };

/** Body of `POST /orders/limit`, part 4.2. */
export const limitOrderRequestSchema = z.looseObject({
  ...target,
  s: z.enum(SIDES),
  p: priceSchema,
  q: z.number().positive(),
});

/** Body of `POST /orders/market`, part 4.2: `am` (USDC) to buy, `q` (shares) to sell. */
export const marketOrderRequestSchema = z.discriminatedUnion('s', [
  z.looseObject({ ...target, s: z.literal('BUY'), am: z.number().positive() }),
  z.looseObject({ ...target, s: z.literal('SELL'), q: z.number().positive() }),
]);

/** Body of `POST /orders/tpsl`, part 4.2; at least one of `t` and `l` is required. */
export const tpslRequestSchema = z
  .looseObject({
    ...target,
    oa: idSchema.nullish(),
    i: z.enum(['YES', 'NO']),
    s: z.literal('SELL'),
    q: z.number().positive(),
    t: priceSchema.nullish(),
    l: priceSchema.nullish(),
  })
  .refine((body) => (body.t ?? body.l ?? null) !== null, { path: ['t'], message: 'expected t or l, got neither' });

export type MarketOrderRequestWire = z.input<typeof marketOrderRequestSchema>;

/** The response to a placed order, part 2. */
export const placementSchema = z.looseObject({ i: idSchema });
