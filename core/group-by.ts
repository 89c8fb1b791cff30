/**
 * The items by the key of each, in their order.
 * @param itemOf what is kept of an item; default the item itself
 */
export function groupBy<T, K, V = T>(
  items: Iterable<T>,
  keyOf: (item: T) => K,
  itemOf: (item: T) => V = (item) => item as unknown as V,
): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(itemOf(item));
    else groups.set(key, [itemOf(item)]);
  }
  return groups;
}
