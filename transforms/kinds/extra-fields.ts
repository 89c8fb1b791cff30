/** How many fields of `value` are not among `known`. */
export function countExtra(value: unknown, known: ReadonlySet<string>): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  let count = 0;
  for (const name of Object.keys(value)) if (!known.has(name)) count += 1;
  return count;
}
