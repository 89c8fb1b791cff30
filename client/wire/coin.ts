import { z } from 'zod';
import { idSchema, numericSchema } from './scalars.js';

/** A coin of `GET /api/coins`, part 2. */
export const coinSchema = z.looseObject({
  i: idSchema,
  n: z.string().nullish(),
  sn: z.string().nullish(),
  ur: numericSchema.nullish(),
  urd: z.string().nullish(),
  dpf: numericSchema.nullish(),
  dps: numericSchema.nullish(),
  ac: z.string().nullish(),
  iu: z.string().nullish(),
  sc: z.boolean().nullish(),
  pmc: z.boolean().nullish(),
});
