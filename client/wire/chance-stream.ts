import { z } from 'zod';
import type { ChancePointWire } from './chance.js';
import { periodSchema } from './chance.js';
import { idSchema } from './scalars.js';

/** Messages that a client sends on the chance stream, part 6.2. */
export const CHANCE_CLIENT_TYPES = ['SUBSCRIBE', 'UNSUBSCRIBE', 'HISTORY'] as const;

/** Messages that the server sends on the chance stream, part 6.2. */
export const CHANCE_SERVER_TYPES = ['probability', 'success', 'UPDATE_HISTORY', 'HISTORY_RESPONSE'] as const;

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

/** Envelope of every message: an unknown `t` is fine here, and an error may come with its text in `r` alone. */
export const chanceEnvelopeSchema = z.looseObject({
  t: z.string().nullish(),
  e: z.string().nullish(),
  o: outcomes.nullish(),
  d: z.unknown().optional(),
  r: z.string().nullish(),
});
export type ChanceClientMessageWire = z.input<typeof chanceClientMessageSchema>;
export type ChanceServerMessageWire = {
  readonly t: (typeof CHANCE_SERVER_TYPES)[number] | 'error';
  readonly e?: string;
  readonly o?: readonly string[];
  readonly d?:
    | ChancePointWire
    | Readonly<Record<string, ChancePointWire | readonly ChancePointWire[]>>
    | { readonly message: string };
  readonly r?: string;
};
