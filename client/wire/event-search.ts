import { z } from 'zod';
import { idSchema, numericSchema } from './scalars.js';

/** Body of `POST /api/events/search`, part 4.5: every field optional. */
export const SEARCH_SORTS = [
  'VOLUME_24H',
  'TOTAL_VOLUME',
  'LIQUIDITY',
  'NEWEST',
  'OLDEST',
  'ENDING_SOON',
  'CHANCE',
] as const;
export const SEARCH_DIRECTIONS = ['ASC', 'DESC'] as const;
export const SEARCH_LANGUAGES = ['en', 'de', 'es', 'pt', 'zh', 'ja', 'ko', 'id'] as const;

export const searchRequestSchema = z.looseObject({
  sb: z.enum(SEARCH_SORTS).optional(),
  sd: z.enum(SEARCH_DIRECTIONS).optional(),
  l: z.enum(SEARCH_LANGUAGES).optional(),
  ss: z.string().optional(),
  c: z.array(z.string()).optional(),
  t: z.array(z.string()).optional(),
  ft: z.boolean().optional(),
});
export type SearchRequestWire = z.input<typeof searchRequestSchema>;

/** A market in the documented shape, part 2. */
export const outcomeSchema = z.looseObject({
  marketId: idSchema,
  yesId: idSchema.nullish(),
  noId: idSchema.nullish(),
});

/** An asset of a market in the shape of the examples' script, part 2. */
export const runnerSchema = z.looseObject({
  i: idSchema,
  ip: z.boolean().nullish(),
  p: numericSchema.nullish(),
});

/** A market in the shape of the examples' script, part 2. */
export const runnerMarketSchema = z.looseObject({
  i: idSchema,
  r: z.array(z.unknown()).nullish(),
});

/** An event of event search, part 2: either documented field set, or both at once. Markets are checked one by one. */
export const eventSchema = z.looseObject({
  id: idSchema.nullish(),
  title: z.string().nullish(),
  outcomes: z.array(z.unknown()).nullish(),
  i: idSchema.nullish(),
  ti: z.string().nullish(),
  ma: z.array(z.unknown()).nullish(),
});
