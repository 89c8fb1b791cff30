import { z } from 'zod';
import { probabilitySchema, unixSecondsSchema } from './scalars.js';

/** A probability point, part 2: `t` Unix seconds, `p` from 0 to 1. */
export const chancePointSchema = z.looseObject({ t: unixSecondsSchema, p: probabilitySchema });

/** Period codes with a name, part 6.2 (case-sensitive); any whole number of seconds as text is a period too. */
export const PERIOD_CODES = ['1s', '5s', '5M', '10M', '30M', '1H', '3H', '4H', '6H', '1d', '7d', '1m'] as const;

/** A period code, or a custom number of seconds as text. */
export const periodSchema = z.union([z.enum(PERIOD_CODES), z.string().regex(/^[1-9]\d{0,9}$/)]);
