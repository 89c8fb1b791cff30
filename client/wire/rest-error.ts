import { z } from 'zod';

/** The public REST error body, part 7.1; private ones are not described, so every field is optional. */
export const restErrorSchema = z.looseObject({
  status: z.number().int().nullish(),
  error: z.string().nullish(),
  message: z.string().nullish(),
});
