import { z } from 'zod';

/**
 * A list as the interface shows or leaves it open: a bare array, `{i,p,s,tp}`, `{i,p,s,t}` or
 * `{content,totalElements,totalPages}`. Items are checked one by one by their own schemas.
 */
export const listSchema = z.union([
  z.array(z.unknown()),
  z.looseObject({ content: z.array(z.unknown()) }),
  z.looseObject({ i: z.array(z.unknown()) }),
]);
export type ListWire = z.input<typeof listSchema>;

/** The wrapper of event search, part 4.5. */
export interface ContentPageWire<T> {
  readonly content: readonly T[];
  readonly totalElements: number;
  readonly totalPages: number;
}
