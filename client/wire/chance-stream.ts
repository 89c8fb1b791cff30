import { z } from 'zod';
import { periodSchema } from './chance.js';
import { idSchema } from './scalars.js';

const outcomes = z.array(idSchema);

export const chanceClientMessageSchema = z.discriminatedUnion('t', [
  z.looseObject({ t: z.literal('SUBSCRIBE'), e: idSchema, o: outcomes }),
  z.looseObject({ t: z.literal('UNSUBSCRIBE'), o: outcomes }),
  z.looseObject({
    t: z.literal('HISTORY'),
    e: idSchema,
    o: outcomes,
    d: z.looseObject({ p: periodSchema.nullish(), f: z.string(), t: z.string() }),
  }),
]);

/** Envelope of every message: any `t` is accepted here, and an error may have its text in `r` alone. */
export const chanceEnvelopeSchema = z.looseObject({
  t: z.string().nullish(),
  e: z.string().nullish(),
  o: outcomes.nullish(),
  d: z.unknown().optional(),
  r: z.string().nullish(),
});
export type ChanceClientMessageWire = z.input<typeof chanceClientMessageSchema>;
