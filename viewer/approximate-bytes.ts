const OBJECT_BYTES = 40;
const VALUE_BYTES = 8;

/** About how much memory a value takes: numbers, texts, and arrays and objects of them. */
export function approximateBytes(value: unknown): number {
  if (typeof value === 'string') return OBJECT_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let bytes = OBJECT_BYTES;
  for (const one of values) bytes += VALUE_BYTES + (typeof one === 'number' ? 0 : approximateBytes(one));
  return bytes;
}
