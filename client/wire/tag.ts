import { z } from 'zod';
import { numericSchema } from './scalars.js';

/** A tag of `GET /api/tags/popular`, part 2. */
export const tagSchema = z.looseObject({
  n: z.string().min(1),
  r: numericSchema.nullish(),
});
