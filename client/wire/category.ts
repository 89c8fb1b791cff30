import { z } from 'zod';
import { idSchema } from './scalars.js';

/** A category of `GET /api/categories`, part 2. Subcategories have the same shape and are checked one by one. */
export const categorySchema = z.looseObject({
  i: idSchema,
  n: z.string().nullish(),
  s: z.string().nullish(),
  pi: z.string().nullish(),
  sc: z.array(z.unknown()).nullish(),
});
