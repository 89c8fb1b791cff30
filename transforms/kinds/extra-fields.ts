/** Limits the work for an object with very many names. */
const MAX_EXTRA = 1000;

/** Number of fields of `value` that are not in `known`, up to 1000. */
export function countExtra(value: unknown, known: ReadonlySet<string>): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  let count = 0;
  for (const name in value) if (!known.has(name) && ++count === MAX_EXTRA) break;
  return count;
}
